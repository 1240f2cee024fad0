"""The tree of commands, as the help shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import click

from serving.cli.group import Entry, LazyGroup, write_example

DAILY, REVIEW, MAINTENANCE, ADVANCED = "Daily", "Review", "Maintenance", "Advanced"


class _Commands(LazyGroup):
    entries: ClassVar[Mapping[str, Entry]] = {
        "init": Entry("serving.cli.init:init", DAILY, "Make a wiki in a folder, new or full of notes."),
        "ingest": Entry("serving.cli.ingest:ingest", DAILY, "Read new sources into the wiki: one night, now."),
        "up": Entry("serving.cli.up:up", DAILY, "Run the nights on schedule and take your edits in, until stopped."),
        "search": Entry("serving.cli.search:search", DAILY, "Find pages by words and by meaning."),
        "query": Entry("serving.cli.query:query", DAILY, "Answer a question from the wiki, each sentence cited."),
        "context": Entry("serving.cli.context:context", DAILY, "Choose passages for an agent's prompt."),
        "status": Entry("serving.cli.status:status", DAILY, "Show how the wiki stands, and what needs you."),
        "sources": Entry(
            "serving.cli.sources:sources", DAILY, "Show what became of each source; ignore, retry or withdraw one."
        ),
        "candidates": Entry("serving.cli.candidates:candidates", REVIEW, "Review the pages that wait for you."),
        "contradictions": Entry(
            "serving.cli.contradictions:contradictions", REVIEW, "Decide between sources that contradict each other."
        ),
        "staging": Entry("serving.cli.staging:staging", REVIEW, "Choose which pages wait for review."),
        "sync": Entry("serving.cli.ingest:sync", MAINTENANCE, "Take your own edits and ticks in, and read no source."),
        "lint": Entry("serving.cli.lint:lint", MAINTENANCE, "Check the pages; put right what is safe."),
        "scaffold": Entry("serving.cli.scaffold:scaffold", MAINTENANCE, "Make the index anew below its marker."),
        "routing": Entry("serving.cli.routing:routing", MAINTENANCE, "Make, validate or clean the table of branches."),
        "schedule": Entry("serving.cli.schedule:schedule", MAINTENANCE, "Show and change what runs when."),
        "runs": Entry("serving.cli.runs:runs", MAINTENANCE, "List the runs so far."),
        "undo": Entry("serving.cli.undo:undo", MAINTENANCE, "Take a run back."),
        "changes": Entry(
            "serving.cli.runs:changes", MAINTENANCE, "List the pages that changed since a date, run or snapshot."
        ),
        "page": Entry("serving.cli.history:page", MAINTENANCE, "Show the versions of a page."),
        "audit": Entry("serving.cli.runs:audit", MAINTENANCE, "List the files that runs wrote."),
        "check": Entry("serving.cli.check:check", MAINTENANCE, "Check the wiki's state; rebuild what can be."),
        "backup": Entry("serving.cli.backup:backup", MAINTENANCE, "Write the whole wiki into one file."),
        "restore": Entry("serving.cli.backup:restore", MAINTENANCE, "Bring a backup back as a new folder."),
        "export": Entry("serving.cli.export:export", MAINTENANCE, "Write the wiki for readers who have no nightwiki."),
        "serve": Entry("serving.cli.serve:serve", ADVANCED, "Answer programs and agents over HTTP (REST)."),
        "mcp": Entry("serving.cli.mcp:mcp", ADVANCED, "Give agents tools (Model Context Protocol)."),
        "model": Entry("serving.cli.model:model", ADVANCED, "Check that the language model works, and what it costs."),
        "bench": Entry("serving.cli.bench:bench", ADVANCED, "Measure which way of searching suits your pages."),
        "schema": Entry("serving.cli.schema:schema", ADVANCED, "Print the JSON Schema of a command's --json."),
    }

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_example("nightwiki init computing --demo\nnightwiki -w computing ingest", formatter)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "-w", "--wiki", "wikis", metavar="DIR", multiple=True,
    help="The wiki; else NIGHTWIKI_WIKI, else the folder you are in. Repeat it to ask or serve several.",
)
@click.version_option(None, "--version", package_name="nightwiki", prog_name="nightwiki")
@click.pass_context
def cli(ctx: click.Context, wikis: tuple[str, ...]) -> None:
    """Compiles your sources, night by night, into a linked and cited wiki that opens in Obsidian."""
    ctx.obj = wikis
