"""Reports as artifacts of a run: the digest, the table of waiting pages, the report of housework.

What a server refuses spoils no night: it is logged, and the report stays in the wiki's state.
"""

from __future__ import annotations

import logging
import re
from functools import partial
from typing import Any, cast

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from config.wiki import Wiki
from flows import weekly as weeks
from flows.undo import Undone
from tasks.digest import NightReport, headline, markdown
from tasks.text_bytes import shown

# In an async flow these would return coroutines; its work is in a thread, and calls them as they are.
_markdown_artifact = partial(cast("Any", create_markdown_artifact), _sync=True)
_table_artifact = partial(cast("Any", create_table_artifact), _sync=True)

log = logging.getLogger(__name__)


def artifact_key(*parts: str) -> str:
    """A key as Prefect accepts it: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-") or "nightwiki"


def is_private(wiki: Wiki) -> bool:
    """Whether names and texts of pages stay out of what the server shows."""
    return wiki.settings.prefect.mode == "existing" and not wiki.settings.prefect.show_page_text


def show_night(wiki: Wiki, kind: str, report: NightReport) -> None:
    """The digest and the table of waiting pages."""
    private = is_private(wiki)
    try:
        text = f"{headline(report)}.\n" if private else markdown(report, wiki.settings.time_zone, linked=False)
        _markdown_artifact(text, key=artifact_key("digest", wiki.name), description=f"{kind} of {wiki.name}")
        if report.waiting and not private:
            rows = [
                {
                    "page": line.title,
                    "kind": line.kind,
                    "confidence": line.confidence,
                    "why": "; ".join(line.reasons),
                    "sources": ", ".join(line.sources),
                }
                for line in report.waiting
            ]
            _table_artifact(rows, key=artifact_key("waiting", wiki.name), description="Pages that wait for review")
    except Exception as error:
        log.warning("the digest could not be shown in Prefect: %s", error)


def show_housework(wiki: Wiki, kind: str, steps: tuple[weeks.Tidied, ...]) -> None:
    """What the steps of tidying found and did."""
    _show(wiki, kind, weeks.markdown(steps, is_private(wiki)))


def show_undo(wiki: Wiki, done: Undone) -> None:
    """Runs taken back, files changed, and what was left and why."""
    lines = ["## Taken back", "", *(f"- `{run}`" for run in done.undone)]
    if not is_private(wiki):
        lines += ["", "## Files", "", *(f"- `{shown(path)}`" for path in done.changed)]
        lines += ["", "## Left as they are", "", *(f"- `{shown(one.path)}`: {shown(one.reason)}" for one in done.left)]
    _show(wiki, "undo", "\n".join(lines) + "\n")


def show_text(wiki: Wiki, kind: str, text: str) -> None:
    """An answer or a pack; the caller has seen to it that it may be shown."""
    _show(wiki, kind, text)


def _show(wiki: Wiki, kind: str, text: str) -> None:
    try:
        _markdown_artifact(text, key=artifact_key(kind, wiki.name), description=f"{kind} of {wiki.name}")
    except Exception as error:
        log.warning("the report could not be shown in Prefect: %s", error)
