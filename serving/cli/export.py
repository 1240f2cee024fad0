"""`nightwiki export`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

import click

from config.errors import StateError
from config.wiki import Wiki
from serving.cli.common import dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.schemas.upkeep import ExportAnswer

if TYPE_CHECKING:
    from tasks.export import Edition
    from tasks.records import PageRecord, SourceRecord

Kind = Literal["obsidian", "llms.txt", "llms-full.txt", "jsonl"]
OBSIDIAN = "obsidian"
KINDS = get_args(Kind)


@click.command(cls=Example, example="nightwiki export obsidian ~/shared/computing")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("target", required=False, type=click.Path(path_type=Path))
@wiki_option
@dry_run_option
@json_option
def export(wiki: Wiki, kind: Kind, target: Path | None, dry_run: bool, as_json: bool) -> None:
    """Write the wiki for readers who have no nightwiki.

    obsidian: a folder TARGET with pages, evidence and sources, without state, settings and candidates.
    llms.txt, llms-full.txt, jsonl: one text, from the published snapshot, into the file TARGET or to the terminal;
    the same snapshot gives the same bytes.
    """
    if target is None and (kind == OBSIDIAN or as_json or dry_run):
        raise click.UsageError("Name a TARGET for this.")
    if kind == OBSIDIAN:
        from storage.copy_vault import copy_vault
        from storage.reader import Reader

        place = cast(Path, target).expanduser().absolute()
        current = Reader(wiki.state_dir).current()
        copied = copy_vault(wiki, place, dry_run)
        answer = _answer(kind, place, current.id if current else "", [*copied.paths], copied.bytes)
    else:
        edition = _edition(wiki)
        content = "".join(_writers()[kind](edition)).encode("utf-8", "replace")
        if target is None:
            click.echo(content.decode(), nl=False)
            return
        place = target.expanduser().absolute()
        if not dry_run:
            from storage.durable import write_file

            write_file(place, [content])
        answer = _answer(kind, place, edition.snapshot, [place.name], len(content))
    if as_json:
        print_json(answer)
    else:
        would = "would write" if dry_run else "wrote"
        click.echo(f"{would} {len(answer.files)} files, {answer.bytes:,} bytes, to {answer.target}")


def _answer(kind: Kind, target: Path, snapshot: str, files: Iterable[str], size: int) -> ExportAnswer:
    return ExportAnswer(kind=kind, target=str(target), snapshot=snapshot, files=[*files], bytes=size)


def _writers() -> Mapping[str, Callable[[Edition], Iterator[str]]]:
    from tasks import export as texts

    return {"llms.txt": texts.llms, "llms-full.txt": texts.llms_full, "jsonl": texts.jsonl}


def _edition(wiki: Wiki) -> Edition:
    from storage.reader import Reader
    from tasks.export import Edition

    snapshot = Reader(wiki.state_dir).current()
    if snapshot is None:
        raise StateError(str(wiki.state_dir), "no snapshot was published yet", "Fill the wiki with: nightwiki ingest")
    pages = cast("tuple[PageRecord, ...]", snapshot.rows("pages"))
    sources = {row.id: row for row in cast("tuple[SourceRecord, ...]", snapshot.rows("sources"))}
    return Edition(wiki.name, snapshot.id, snapshot.created, pages, sources)
