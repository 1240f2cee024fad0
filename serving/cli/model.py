"""`nightwiki model check`: whether the language models of the settings work, and what they cost."""

from __future__ import annotations

import click

from config.errors import NightwikiError
from config.wiki import Wiki
from serving.cli.common import json_option, print_json, print_rows, wiki_option
from serving.cli.group import Example, Group
from serving.schemas.upkeep import ModelAnswer, ModelItem

FINDINGS = 3


@click.group(cls=Group)
def model() -> None:
    """The language model, if you set one: `model` in nightwiki.yaml."""


@model.command(cls=Example, example="nightwiki model check")
@wiki_option
@json_option
def check(wiki: Wiki, as_json: bool) -> int:
    """Ask the model of each role one tiny question: what works, what it cost, how long it took.

    Keys are looked for in the environment, then in the keyring (`keyring set nightwiki PROVIDER`).

    Exit code 3 means: not every role works.
    """
    from flows.session import open_state
    from flows.steps import utc_now
    from storage.spending import Spending
    from tasks.llm.check import check_roles

    settings = wiki.settings
    if not settings.model and not any(settings.roles.model_dump().values()):
        step = "Write a line such as `model: anthropic:claude-haiku-4-5`; without one, pages are made of quotations."
        raise NightwikiError(str(wiki.settings_path), "no model is set", step)
    open_state(wiki).prepare()
    purse = Spending(wiki.state_dir, f"check-{utc_now()}", settings.budget, settings.time_zone)
    items = []
    for one in check_roles(settings, purse):
        items.append(
            ModelItem(
                role=one.role.value,
                model=one.model,
                works=one.works,
                reason=one.reason,
                next_step=one.next_step,
                seconds=one.seconds,
                input_tokens=one.input_tokens,
                output_tokens=one.output_tokens,
                money=one.money,
                price_input=one.price.input if one.price else None,
                price_output=one.price.output if one.price else None,
            )
        )
    if as_json:
        print_json(ModelAnswer(roles=items, money=sum(one.money for one in items)))
    else:
        _show(items)
    return 0 if all(one.works for one in items) else FINDINGS


def _show(items: list[ModelItem]) -> None:
    rows = [
        (one.role, one.model, "works" if one.works else "fails", f"{one.seconds:.1f} s",
         f"{one.input_tokens} + {one.output_tokens}", _cost(one))
        for one in items
    ]
    print_rows(rows, ("role", "model", "", "time", "tokens", "cost"))
    for told in dict.fromkeys(f"{one.model}: {one.reason}. {one.next_step}".strip() for one in items if one.reason):
        click.echo(told)


def _cost(item: ModelItem) -> str:
    if not item.works:
        return ""
    if item.price_input is None:
        return "price not known"
    if not item.price_input and not item.price_output:
        return "free"
    return f"${item.money:.6f} (${item.price_input:g} and ${item.price_output:g} per million tokens)"
