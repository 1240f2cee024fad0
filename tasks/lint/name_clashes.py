"""Files and folders that differ by case or Unicode form alone: one and the same on many file systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from tasks.lint.desk import Desk
from tasks.lint.model import ERROR, Check, Issue
from tasks.pages.slugs import fold


def _find(desk: Desk) -> Iterator[Issue]:
    names = set(desk.material.files)
    for folder in {path.rpartition("/")[0] for path in desk.material.files}:
        names |= {str(one) for one in (PurePosixPath(folder), *PurePosixPath(folder).parents) if str(one) != "."}
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        groups[fold(name)].append(name)
    for group in groups.values():
        for name in group[1:]:
            if name.rpartition("/")[0] == group[0].rpartition("/")[0]:  # else a folder above clashes already
                message = f"its name clashes with {group[0]} on systems that fold case or Unicode forms"
                yield CHECK.issue(name, 0, message, "Rename one of them")


CHECK = Check("name-clash", ERROR, "No two files differ by case or Unicode form alone.", _find)
