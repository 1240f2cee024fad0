"""Aliases that another page goes by as well."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue
from tasks.pages.slugs import fold


def _find(desk: Desk) -> Iterator[Issue]:
    names: dict[str, dict[str, str]] = defaultdict(dict)  # folded name: path: how the page goes by it
    for page in desk.pages:
        for name, kind in ((page.title, "title"), (page.slug, "file name"), *((a, "alias") for a in page.aliases)):
            names[fold(" ".join(name.split()))].setdefault(page.path, kind)
    for page in desk.pages:
        for alias in dict.fromkeys(page.aliases):
            name = fold(" ".join(alias.split()))
            others = {path: kind for path, kind in names[name].items() if path != page.path}
            told = names[name][page.path] == "alias"
            for path, kind in sorted(others.items()):
                if told and (kind != "alias" or path < page.path):  # a pair of aliases is told once
                    message = f"its alias '{alias}' is also the {kind} of {path}"
                    yield CHECK.issue(page.path, 0, message, "Take the alias off one of them")


CHECK = Check("duplicate-alias", WARNING, "No page has an alias that another page goes by.", _find)
