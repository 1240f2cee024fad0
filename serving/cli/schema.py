"""`nightwiki schema`: the JSON Schema of a command's --json."""

from __future__ import annotations

import json

import click
from pydantic import BaseModel

from config.load import nearest
from serving.cli.group import Example
from serving.schemas.registry import ANSWERS


@click.command(cls=Example, example="nightwiki schema candidates list")
@click.argument("command", nargs=-1)
def schema(command: tuple[str, ...]) -> None:
    """Print the JSON Schema of what COMMAND prints with --json; alone, list the commands that have one.

    `health`, `page`, `pages`, `problem` and the like are what only servers answer.
    """
    from serving.schemas.served import SERVED

    answers: dict[str, type[BaseModel]] = {**ANSWERS, **SERVED}
    if not command:
        for name in answers:
            click.echo(name)
        return
    name = " ".join(command)
    name = f"{name} list" if f"{name} list" in answers else name
    if name not in answers:
        hint = nearest(name, answers)
        raise click.UsageError(f"'{name}' has no schema." + (f" Did you mean '{hint}'?" if hint else ""))
    text = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | answers[name].model_json_schema()
    click.echo(json.dumps(text, indent=2, ensure_ascii=False))
