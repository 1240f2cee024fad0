"""A click group that loads a command's module only when it is used, and shows its commands in sections.

`nightwiki search` must not pay for what `nightwiki up` imports.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import click


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: where its code is, under which heading it stands, and its line in the list."""

    target: str  # module:attribute
    section: str
    short_help: str


class LazyGroup(click.Group):
    """Commands by name, imported on use."""

    entries: ClassVar[Mapping[str, Entry]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.entries, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = entry.target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.target} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self.entries.items():
            sections.setdefault(entry.section, []).append((name, entry.short_help))
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)


class Group(click.Group):
    """A group whose help shows the first sentence of each of its commands whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(limit=300)) for name, command in commands if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class DefaultGroup(Group):
    """A group that runs one of its commands when none is named."""

    def __init__(self, *args: Any, default: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        helped = any(arg in ctx.help_option_names for arg in args[:1])
        if not helped and (not args or args[0].startswith("-")):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def write_example(example: str, formatter: click.HelpFormatter) -> None:
    """The section with which help ends."""
    with formatter.section("Example"):
        for line in example.splitlines():
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class Example(click.Command):
    """A command whose help ends with an example that works as it stands."""

    def __init__(self, *args: Any, example: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.example:
            write_example(self.example, formatter)
