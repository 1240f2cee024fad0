"""Questions as flows: run from the console or the API, the answer kept as JSON for a while and shown as an artifact.

They read published snapshots and take no lock, so any number of them may run beside a night.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Failed

from config.errors import NightwikiError
from config.wiki import Wiki, model_cache, open_wiki
from flows.answering.context import TOKENS, build_pack
from flows.answering.query import answer
from flows.asking import asker, branch_chooser
from flows.console.artifacts import is_private, show_text
from flows.service.expired_results import KEPT
from storage.search.engine import Engine, searched
from tasks.answers.answering import Answer
from tasks.llm.ask import Asker
from tasks.packs.choice import MOST_A_PAGE
from tasks.search.filters import Filters
from tasks.search.result import Degraded

log = logging.getLogger(__name__)


def _run_name() -> str:
    """Such as 'query my-wiki: who built the Z3'."""
    given = flow_run.parameters
    asked = " ".join(str(given.get("question") or given.get("goal") or "").split())
    return f"{flow_run.flow_name} {Path(str(given.get('wiki', ''))).name}: {asked[:60]}"


@task(
    name="search",
    task_run_name="search",
    cache_policy=NO_CACHE,
    persist_result=True,
    result_serializer="json",
    cache_expiration=KEPT,
)
def search(wiki: str, question: str, hits: int = 10) -> dict[str, Any]:
    """The pages that answer a question, as `nightwiki search --json` prints them.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        question: What to look for.
        hits: Most hits.
    """
    return _engine(Path(wiki)).search(question, hits).to_json()


@task(
    name="answer",
    task_run_name="answer",
    cache_policy=NO_CACHE,
    persist_result=True,
    result_serializer="json",
    cache_expiration=KEPT,
)
def answer_question(wiki: str, question: str, filters: Filters, as_of: str, model: bool) -> dict[str, Any]:
    """The answer to a question, as `nightwiki query --json` prints it."""
    found = open_wiki(Path(wiki))
    model_asker, trouble = _asker(found, model)
    told = answer(_engine(Path(wiki)), question, filters, as_of, model_asker, trouble)
    if not is_private(found):
        show_text(found, "query", answer_markdown(told))
    return told.to_json()


@task(
    name="pack",
    task_run_name="pack",
    cache_policy=NO_CACHE,
    persist_result=True,
    result_serializer="json",
    cache_expiration=KEPT,
)
def pack_context(
    wiki: str,
    goal: str,
    tokens: int,
    filters: Filters,
    max_per_page: int,
    exclude: list[str],
    as_of: str,
    model: bool,
) -> dict[str, Any]:
    """The context pack for a goal, as `nightwiki context build --json` prints it."""
    found = open_wiki(Path(wiki))
    model_asker, trouble = _asker(found, model)
    engine = _engine(Path(wiki))
    pack = build_pack(engine, goal, tokens, filters, max_per_page, exclude, as_of, model_asker, "json", trouble)
    if not is_private(found):
        show_text(found, "context-pack", pack.to_markdown())
    return pack.to_json()


@flow(name="query", flow_run_name=_run_name, persist_result=True, result_serializer="json", validate_parameters=True)
def query(
    wiki: str,
    question: str,
    tag: list[str] | None = None,
    path: list[str] | None = None,
    as_of: str = "",
    model: bool = True,
) -> dict[str, Any] | State[None]:
    """Answer a question from the wiki, each sentence with what it relies on.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        question: What to ask.
        tag: Only pages with all of these tags.
        path: Only pages at these paths, in these folders, or so named.
        as_of: Ask the wiki as it was: a date, a run or a snapshot.
        model: Let the language model write that the settings name, if they do.
    """
    try:
        return answer_question(wiki, question, Filters(tag=tuple(tag or ()), path=tuple(path or ())), as_of, model)
    except NightwikiError as error:
        return Failed(message=str(error))


@flow(
    name="context-pack",
    flow_run_name=_run_name,
    persist_result=True,
    result_serializer="json",
    validate_parameters=True,
)
def context_pack(
    wiki: str,
    goal: str,
    tokens: int = TOKENS,
    tag: list[str] | None = None,
    path: list[str] | None = None,
    exclude: list[str] | None = None,
    max_per_page: int = MOST_A_PAGE,
    as_of: str = "",
    model: bool = True,
) -> dict[str, Any] | State[None]:
    """Choose the passages that serve a goal, inside a budget of tokens.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        goal: What the pack is for.
        tokens: Most tokens of the pack as JSON.
        tag: Only pages with all of these tags.
        path: Only pages at these paths, in these folders, or so named.
        exclude: Slugs or ids of pages to leave out.
        max_per_page: Most passages of one page.
        as_of: Ask the wiki as it was: a date, a run or a snapshot.
        model: Let the language model take a long goal apart, if the settings name one.
    """
    filters = Filters(tag=tuple(tag or ()), path=tuple(path or ()))
    try:
        return pack_context(wiki, goal, tokens, filters, max_per_page, exclude or [], as_of, model)
    except NightwikiError as error:
        return Failed(message=str(error))


def answer_markdown(told: Answer) -> str:
    """An answer as an artifact shows it: its sentences with numbers, then what these stand for."""
    paragraphs: dict[int, list[str]] = {}
    for one in told.sentences:
        numbers = "".join(f"[{number}]" for number in one.citations)
        paragraphs.setdefault(one.paragraph, []).append(f"{_quiet(one.text)} {numbers}")
    lines = [f"**{_quiet(told.question)}**", *(" ".join(each) for each in paragraphs.values())]
    if told.note:
        lines.append(f"_{_quiet(told.note)}_")
    cited = []
    for reference in told.citations:
        places = ", ".join(dict.fromkeys(f"`{one.location}#{one.place}`" for one in reference.sources))
        cited.append(
            f"{reference.number}. {_quiet(reference.title)}, `{reference.path}`{f': {places}' if places else ''}"
        )
    return "\n\n".join([*lines, "\n".join(cited)]).rstrip() + "\n"


def _quiet(text: str) -> str:
    """Text of pages without the signs that would make an element or a link of it."""
    return text.replace("<", "&lt;").replace("[", "\\[").replace("`", "'")


@cache
def _engine(folder: Path) -> Engine:
    wiki = open_wiki(folder)
    return Engine([searched(wiki.state_dir, wiki.settings, model_cache(), branch_chooser(wiki))])


def _asker(wiki: Wiki, wanted: bool) -> tuple[Asker | None, tuple[Degraded, ...]]:
    if not wanted or not wiki.settings.model:
        return None, ()
    try:
        return asker(wiki), ()
    except NightwikiError as error:
        log.warning("the model is not asked: %s", error)
        return None, (Degraded("model", f"{error.subject}: {error.cause}", error.next_step),)
