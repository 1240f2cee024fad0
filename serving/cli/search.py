"""`nightwiki search`. Imports nothing of the write plane, so that an answer costs no more than it must."""

from __future__ import annotations

import re
import shutil
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from serving.cli.asking import asking_options, open_wikis, words
from serving.cli.common import json_option
from serving.cli.group import Example
from tasks.search.filters import Filters
from tasks.search.fusion import CONFIGURATIONS, Configuration
from tasks.search.result import Hit, SearchResult

if TYPE_CHECKING:
    from storage.search.engine import Layer

_LAYERS = ("pages", "chunks", "both")
_REFERENCE = re.compile(r"\[\^[^\]\s]+\]")
_WIKILINK = re.compile(r"!?\[\[(?:[^\]|\n]*\\?\|)?([^\]\n]*)\]\]")


@click.command(cls=Example, example='nightwiki search "who built the Z3" -k 3')
@click.argument("question", nargs=-1, required=True)
@click.option("-k", "count", type=click.IntRange(1, 200), help="Most hits shown; else the setting search.hits.")
@click.option("--explain", is_flag=True, help="Say for each hit why it stands where it stands.")
@click.option("--layer", type=click.Choice(_LAYERS), default="pages", help="Pages, pieces of sources, or both.")
@click.option("--configuration", type=click.Choice(sorted(CONFIGURATIONS)), help="How the rankings are joined.")
@asking_options
@json_option
@click.pass_context
def search(
    ctx: click.Context,
    question: tuple[str, ...],
    count: int | None,
    explain: bool,
    layer: str,
    configuration: str | None,
    filters: Filters,
    as_of: str,
    folders: tuple[str, ...],
    as_json: bool,
) -> None:
    """Ask the wiki, by words and by meaning."""
    asked = open_wikis(ctx, folders)
    result = asked.engine.search(
        words(question),
        count,
        filters,
        explain=explain,
        layer=cast("Layer", layer),  # click has checked it
        as_of=as_of,
        configuration=cast("Configuration | None", configuration),
    )
    result = replace(result, degraded=(*asked.broken, *result.degraded))
    if as_json:
        import json

        click.echo(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
    else:
        _show(result, len(asked.wikis) > 1)


def _show(result: SearchResult, several: bool) -> None:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    for hit in result.hits:
        place = " › ".join(hit.heading_path)
        wiki = f"{hit.wiki}: " if several else ""
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
