"""`nightwiki query`: an answer from the wiki, as it comes, each sentence with what it relies on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field

import click

from config.errors import NightwikiError
from config.wiki import Wiki
from serving.cli.asking import asker_of, asking_options, open_wikis, words
from serving.cli.common import dry_run_option, json_option
from serving.cli.group import Example
from tasks.answers.answering import Answer, Cited, Done, Event, Failed, Hits, Reference, Sentence, collected, event_json
from tasks.search.filters import Filters

_UNSURE = {"uncovered": "?", "translated": "~"}


@click.command(cls=Example, example='nightwiki query "who built the Z3, and when"')
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--no-model", is_flag=True, help="Do not ask the language model that the settings name: quote passages."
)
@click.option("--save", is_flag=True, help="Offer the answer as a page: it waits among the candidates.")
@click.option("--events", is_flag=True, help="Print each event as one line of JSON, as it comes.")
@asking_options
@dry_run_option
@json_option
@click.pass_context
def query(
    ctx: click.Context,
    question: tuple[str, ...],
    no_model: bool,
    save: bool,
    events: bool,
    filters: Filters,
    as_of: str,
    folders: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Answer a question from the wiki, and only from it.

    Each sentence names the passages it relies on. Without a language model the best passages are quoted; with one, it
    writes from them, and a sentence that they do not carry is left out (or marked: [1?] not every word, [1~] another
    language). What the wiki does not cover is said as such.
    """
    from flows.answering.query import answer_events

    asked = open_wikis(ctx, folders)
    model, trouble = asker_of(asked.wikis, not no_model)
    shown = _Terminal(len(asked.wikis) > 1)
    kept: list[Event] = []
    for event in answer_events(asked.engine, words(question), filters, as_of, model, (*asked.broken, *trouble)):
        kept.append(event)
        if events:
            click.echo(json.dumps(event_json(event), ensure_ascii=False))
        elif not as_json:
            shown.show(event)
    told = collected(kept)
    if as_json:
        click.echo(json.dumps(told.to_json(), indent=2, ensure_ascii=False))
    if save:
        _save(asked.wikis, told, dry_run)


def _save(wikis: Sequence[Wiki], told: Answer, dry_run: bool) -> None:
    from flows.answering.saving import save
    from flows.steps import DirectRunner, utc_now

    if len(wikis) > 1:
        raise NightwikiError("--save", "an answer from several wikis belongs to none of them", "Ask one: -w DIR")
    saved = save(wikis[0], DirectRunner(), utc_now(), told, dry_run)
    if saved.left:
        raise NightwikiError(saved.path, f"was not written: {saved.left}", "Ask again")
    review = f". Review it with: nightwiki candidates show {saved.slug}"
    click.echo(f"Would write {saved.path}" if dry_run else f"Saved as {saved.path}{review}", err=True)


@dataclass(slots=True)
class _Terminal:
    """An answer as it is told to a person: running text, then what its numbers stand for."""

    name_wiki: bool
    references: list[Reference] = field(default_factory=list)
    paragraph: int = -1
    column: int = 0
    began: bool = False

    def show(self, event: Event) -> None:
        """Print one event; text appears word by word, so that a slow model can be read along."""
        match event:
            case Hits(parts=parts, translated=translated):
                if parts:
                    click.secho(f"Looked up: {' · '.join(parts)}", dim=True, err=True)
                if translated:
                    click.secho(f"Also as: {translated}", dim=True, err=True)
            case Cited(reference):
                self.references.append(reference)
            case Sentence():
                self._sentence(event)
            case Done():
                self._done(event)
            case Failed():
                pass

    def _sentence(self, sentence: Sentence) -> None:
        if sentence.paragraph != self.paragraph and self.began:
            click.echo("\n")
            self.column = 0
        self.paragraph, self.began = sentence.paragraph, True
        mark = _UNSURE.get(sentence.checked, "")
        numbers = "".join(f"[{number}{mark}]" for number in sentence.citations)
        if "\n" in sentence.text:
            click.echo(f"{sentence.text}\n{numbers}", nl=False)
            return
        self._words(f"{sentence.text} {numbers}")

    def _words(self, text: str) -> None:
        width = min(shutil.get_terminal_size((100, 24)).columns, 100)
        for word in text.split():
            size = _width(word)
            if self.column and self.column + 1 + size > width:
                click.echo()
                self.column = 0
            click.echo(f" {word}" if self.column else word, nl=False)
            self.column += size + (1 if self.column else 0)

    def _done(self, event: Done) -> None:
        if self.began:
            click.echo("\n")
        if event.note:
            click.secho(event.note, bold=event.state != "answered")
        if event.uncovered:
            click.echo(f"Not covered: {'; '.join(event.uncovered)}")
        for reference in self.references:
            self._reference(reference)
        if event.near:
            titles = ", ".join(f"{one.title} ({one.path})" for one in event.near)
            click.echo(f"Near in meaning, but perhaps no answer: {titles}")
        for cut in event.cut:
            click.echo(f"left out, {cut.reason}: {cut.text}", err=True)
        for one in event.degraded:
            click.echo(f"{one.what}: {one.reason}. {one.next_step}", err=True)
        if event.cost.calls:
            click.echo(f"{event.cost.calls} calls, {event.cost.tokens} tokens, ${event.cost.money:.4f}", err=True)

    def _reference(self, reference: Reference) -> None:
        wiki = f"{reference.wiki}: " if self.name_wiki else ""
        heading = [part for part in reference.heading_path if part != reference.title]
        title = " › ".join((reference.title, *heading))
        mark = ", ".join(
            word
            for word in (
                f"{reference.confidence} confidence" if reference.confidence in ("low", "medium") else "",
                reference.status if reference.status not in ("", "active") else "",
            )
            if word
        )
        click.secho(f"[{reference.number}] {wiki}{title}", bold=True, nl=False)
        click.echo(f"  {reference.path}{f'  ({mark})' if mark else ''}")
        for place in dict.fromkeys(f"{one.location}#{one.place}" for one in reference.sources):
            click.echo(f"    from {place}")


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
