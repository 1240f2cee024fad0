"""`nightwiki search`. Imports nothing of the write plane, so that an answer costs no more than it must."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import cast

import click

from config.wiki import Wiki, find_wiki, model_cache
from serving.cli.common import json_option
from serving.cli.group import Example
from tasks.filters import LEVELS, Filters
from tasks.fusion import CONFIGURATIONS
from tasks.search_result import Hit, SearchResult

_LAYERS = ("pages", "chunks", "both")
_REFERENCE = re.compile(r"\[\^[^\]\s]+\]")
_WIKILINK = re.compile(r"!?\[\[(?:[^\]|\n]*\\?\|)?([^\]\n]*)\]\]")


@click.command(cls=Example, example='nightwiki search "who built the Z3" -k 3')
@click.argument("question", nargs=-1, required=True)
@click.option("-k", "count", type=click.IntRange(1, 200), help="Most hits shown; else the setting search.hits.")
@click.option("--explain", is_flag=True, help="Say for each hit why it stands where it stands.")
@click.option("--layer", type=click.Choice(_LAYERS), default="pages", help="Pages, pieces of sources, or both.")
@click.option("--configuration", type=click.Choice(sorted(CONFIGURATIONS)), help="How the rankings are joined.")
@click.option("--as-of", metavar="WHEN", default="", help="Ask the wiki as it was: a date, a run or a snapshot.")
@click.option("--tag", multiple=True, help="Only pages with this tag; each repetition narrows.")
@click.option("--status", multiple=True, help="Only pages of this status; without it, archived ones are out.")
@click.option("--type", "kind", multiple=True, help="Only pages of this type.")
@click.option("--branch", multiple=True, help="Only pages of this branch of ROUTING.md.")
@click.option("--path", multiple=True, metavar="GLOB", help="Only pages at this path, in this folder, or so named.")
@click.option("--source", multiple=True, help="Only pages that cite this source (its id or vault path).")
@click.option(
    "--confidence-min",
    type=click.Choice(LEVELS),
    default=None,
    help="Only pages of this confidence or better.",
)
@click.option("--updated-after", metavar="DATE", default="", help="Only pages updated then or later.")
@click.option("--updated-before", metavar="DATE", default="", help="Only pages updated before then.")
@click.option("-w", "--wiki", "folders", metavar="DIR", multiple=True, help="The wiki; repeat it to ask several.")
@json_option
@click.pass_context
def search(
    ctx: click.Context,
    question: tuple[str, ...],
    count: int | None,
    explain: bool,
    layer: str,
    configuration: str | None,
    as_of: str,
    tag: tuple[str, ...],
    status: tuple[str, ...],
    kind: tuple[str, ...],
    branch: tuple[str, ...],
    path: tuple[str, ...],
    source: tuple[str, ...],
    confidence_min: str | None,
    updated_after: str,
    updated_before: str,
    folders: tuple[str, ...],
    as_json: bool,
) -> None:
    """Ask the wiki, by words and by meaning."""
    wikis = [find_wiki(folder) for folder in folders] or [find_wiki(ctx.find_object(str))]
    filters = Filters(
        tag=tag,
        status=status,
        type=kind,
        branch=branch,
        path=path,
        source=source,
        confidence_min=confidence_min or "",
        updated_after=_date(updated_after, "--updated-after"),
        updated_before=_date(updated_before, "--updated-before"),
    )
    text = " ".join(question).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    result = _ask(wikis, text, count, filters, explain, layer, configuration, as_of)
    if as_json:
        import json

        click.echo(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
    else:
        _show(result, wikis)


def _ask(
    wikis: list[Wiki],
    question: str,
    count: int | None,
    filters: Filters,
    explain: bool,
    layer: str,
    configuration: str | None,
    as_of: str,
) -> SearchResult:
    from storage.engine import Engine, Layer, searched

    engine = Engine([searched(wiki.state_dir, wiki.settings, model_cache()) for wiki in wikis])
    chosen = cast("Layer", layer)  # click has checked it
    name = next((one for one in CONFIGURATIONS if one == configuration), None)
    return engine.search(question, count, filters, explain=explain, layer=chosen, as_of=as_of, configuration=name)


def _date(text: str, option: str) -> str:
    if text and not re.fullmatch(r"\d{4}(-\d\d(-\d\d(T[\d:.]+Z?)?)?)?", text):
        raise click.BadParameter(f"'{text}' is not a date such as 2026-12-01", param_hint=option)
    return text


def _show(result: SearchResult, wikis: list[Wiki]) -> None:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    for hit in result.hits:
        place = " › ".join(hit.heading_path)
        wiki = f"{hit.wiki}: " if len(wikis) > 1 else ""
        click.secho(f"{hit.rank}. {wiki}{hit.title}", bold=True)
        mark = ", ".join(word for word in (_confidence(hit), hit.status if hit.status != "active" else "") if word)
        click.echo(f"   {hit.path}{f'  ({mark})' if mark else ''}")
        text = _plain(hit.excerpt)
        if place and place != hit.title:
            text = f"{place}: {text}"
        lines = textwrap.wrap(text, width - 3)[:4]
        click.echo("\n".join(f"   {line}" for line in lines))
        places = dict.fromkeys(f"{cited.location}#{cited.place}" for cited in hit.citations)
        for number, cited_at in enumerate(places):
            click.echo(f"   {'and ' if number else 'from'} {cited_at}")
        if hit.explain is not None:
            why = hit.explain
            click.echo(
                f"   words: rank {why.keyword_rank or '-'} ({why.keyword_score:.2f}); meaning: rank"
                f" {why.vector_rank or '-'} ({why.vector_similarity:.3f}); weights {why.keyword_weight:g} and"
                f" {why.vector_weight:g}; covered {why.coverage:.0%}{'; pinned' if why.pinned else ''}"
            )
        click.echo()
    if result.branches:
        click.echo(f"Looked only in {' and '.join(result.branches)}, and in pages of no branch.", err=True)
    if not result.hits:
        click.echo("Nothing found." if result.snapshot else "The wiki is empty. Fill it with: nightwiki ingest")
    elif result.gap:
        click.echo("The wiki's pages hardly speak of this.", err=True)
    for one in result.degraded:
        click.echo(f"{one.what}: {one.reason}. {one.next_step}", err=True)


def _confidence(hit: Hit) -> str:
    return f"{hit.confidence} confidence" if hit.confidence in ("low", "medium") else ""


def _plain(markdown: str) -> str:
    """An excerpt as a terminal shows it: links by their label, without footnote marks."""
    return " ".join(_REFERENCE.sub("", _WIKILINK.sub(r"\1", markdown)).split())
