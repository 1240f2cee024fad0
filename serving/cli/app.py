"""The tree of commands, as the help shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import click

from serving.cli.group import Entry, LazyGroup

DAILY, REVIEW, MAINTENANCE, ADVANCED = "Daily", "Review", "Maintenance", "Advanced"


class _Commands(LazyGroup):
    entries: ClassVar[Mapping[str, Entry]] = {
        "init": Entry("serving.cli.init:init", DAILY, "Make a wiki in a folder, new or full of notes."),
        "ingest": Entry("serving.cli.ingest:ingest", DAILY, "Read new sources into the wiki: one night, now."),
        "search": Entry("serving.cli.search:search", DAILY, "Ask the wiki."),
        "query": Entry("serving.cli.query:query", DAILY, "A question answered, each sentence cited."),
        "context": Entry("serving.cli.context:context", DAILY, "Evidence for an agent, inside a budget of tokens."),
        "status": Entry("serving.cli.status:status", DAILY, "How the wiki stands."),
        "sources": Entry("serving.cli.sources:sources", DAILY, "What became of each source; ignore or retry one."),
        "candidates": Entry("serving.cli.candidates:candidates", REVIEW, "Pages that wait for you."),
        "contradictions": Entry("serving.cli.contradictions:contradictions", REVIEW, "Sources that disagree; you decide."),
        "staging": Entry("serving.cli.staging:staging", REVIEW, "Which pages wait for review."),
        "sync": Entry("serving.cli.ingest:sync", MAINTENANCE, "Take your own edits and ticks in, nothing else."),
        "runs": Entry("serving.cli.runs:runs", MAINTENANCE, "Every run so far."),
        "audit": Entry("serving.cli.runs:audit", MAINTENANCE, "Every file a run has written."),
        "changes": Entry("serving.cli.runs:changes", MAINTENANCE, "What changed since a snapshot."),
        "lint": Entry("serving.cli.lint:lint", MAINTENANCE, "What is wrong with the pages; put right what is safe."),
        "page": Entry("serving.cli.history:page", MAINTENANCE, "The versions of a page."),
        "undo": Entry("serving.cli.undo:undo", MAINTENANCE, "Take a run back."),
        "scaffold": Entry("serving.cli.scaffold:scaffold", MAINTENANCE, "Make the index anew below its marker."),
        "routing": Entry("serving.cli.routing:routing", MAINTENANCE, "The table of branches: make, validate, clean."),
        "backup": Entry("serving.cli.backup:backup", MAINTENANCE, "The whole wiki in one file."),
        "restore": Entry("serving.cli.backup:restore", MAINTENANCE, "Bring a backup back."),
        "export": Entry("serving.cli.export:export", MAINTENANCE, "The wiki for readers who have no nightwiki."),
        "check": Entry("serving.cli.check:check", MAINTENANCE, "Whether the state is sound; repair what can be."),
        "bench": Entry("serving.cli.bench:bench", ADVANCED, "Which way of searching suits your pages."),
        "schedule": Entry("serving.cli.schedule:schedule", MAINTENANCE, "When things run: list, add, remove, apply."),
        "up": Entry("serving.cli.up:up", ADVANCED, "Prefect server, schedules and sync, until stopped."),
        "serve": Entry("serving.cli.serve:serve", ADVANCED, "Answer programs and agents over HTTP (REST)."),
        "mcp": Entry("serving.cli.mcp:mcp", ADVANCED, "Tools for agents (Model Context Protocol)."),
        "model": Entry("serving.cli.model:model", ADVANCED, "Whether the language model works, and its cost."),
        "schema": Entry("serving.cli.schema:schema", ADVANCED, "The JSON Schema of a command's --json."),
    }


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("-w", "--wiki", metavar="DIR", help="The wiki; else NIGHTWIKI_WIKI, else the folder you are in.")
@click.version_option(None, "--version", package_name="nightwiki", prog_name="nightwiki")
@click.pass_context
def cli(ctx: click.Context, wiki: str | None) -> None:
    """Compiles your sources, night by night, into a linked and cited wiki that opens in Obsidian."""
    ctx.obj = wiki
