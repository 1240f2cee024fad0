"""Pages that ROUTING.md lists nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue
from tasks.navigation import route
from tasks.pages.pages import stem_of
from tasks.pages.slugs import fold


def _find(desk: Desk) -> Iterator[Issue]:
    if desk.material.routing is None:
        return
    listed = {fold(stem_of(e.target)) for branch in route.parse(desk.material.routing) for e in branch.entries}
    folder = desk.material.pages_dir
    for page in desk.pages:
        within = folder == "." or page.path.startswith(folder + "/")
        if within and page.status != "archived" and fold(page.slug) not in listed:
            yield CHECK.issue(page.path, 0, "it is in no branch of ROUTING.md, so it is in scope of every question",
                              f"Add - [[{page.slug}]] below a branch")


CHECK = Check("no-branch", WARNING, "Where there is a ROUTING.md, each page is in a branch.", _find)
