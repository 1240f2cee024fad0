"""`nightwiki bench`: which way of searching is best for a person's own pages."""

from __future__ import annotations

import click

from config.wiki import Wiki, model_cache
from serving.cli.common import TerminalProgress, json_option, print_json, print_rows, wiki_option
from serving.cli.group import Example
from serving.schemas.asking import BenchAnswer, BenchItem


@click.command(cls=Example, example="nightwiki bench --pages 50")
@click.option("--pages", type=click.IntRange(1), default=100, show_default=True, help="Most pages to ask about.")
@click.option("--seed", type=int, default=411, show_default=True, help="Chooses the pages; another seed, others.")
@wiki_option
@json_option
def bench(wiki: Wiki, pages: int, seed: int, as_json: bool) -> None:
    """Ask the wiki questions drawn from its own pages, under each configuration, and say which finds most.

    Questions use a page's own telling words (lexical) or an exact name, number or date on it (identifier).
    """
    from storage.own_benchmark import compare
    from storage.reader import Reader
    from storage.search.engine import Engine, searched
    from tasks.search.own_questions import OwnPage, draw

    snapshot = Reader(wiki.state_dir).current()
    rows = snapshot.pages() if snapshot is not None else ()
    live = [OwnPage(page.id, page.title, page.markdown) for page in rows if not page.deleted]
    questions = draw(live, pages, seed)
    with TerminalProgress(not as_json) as progress:
        engine = Engine([searched(wiki.state_dir, wiki.settings, model_cache())])
        report = compare(engine, questions, tell=progress)
    if as_json:
        items = [
            BenchItem(configuration=one.configuration, kind=one.kind, questions=one.questions, found=one.found)
            for one in report.found
        ]
        print_json(BenchAnswer(results=items, summary=report.paragraph()))
        return
    table = [(one.configuration, one.kind, str(one.questions), f"{one.share:.1%}") for one in report.found]
    print_rows(table, ("configuration", "kind", "questions", "among the first five"))
    click.echo(report.paragraph())
