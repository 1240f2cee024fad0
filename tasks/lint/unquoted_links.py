"""Links in properties without quotes, which YAML reads as lists within lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue

_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\n]|\'\')*\'')
_BARE = re.compile(r"(?:^[ \t]*-|:|\[|,)[ \t]*(!?\[\[[^\[\]\n]+\]\])")
_TEXT_FOLLOWS = re.compile(r"(?:^[ \t]*-|:)[ \t]*[|>][-+0-9]*[ \t]*\r?$")


def _find(desk: Desk) -> Iterator[Issue]:
    for page in desk.pages:
        head = page.markdown[: desk.properties(page).start]
        if "[[" not in head:
            continue
        inside: int | None = None  # indent of the key whose value is a block of text
        for number, line in enumerate(head.splitlines(), start=1):
            indent = len(line) - len(line.lstrip())
            if inside is not None and (indent > inside or not line.strip()):
                continue
            inside = indent if _TEXT_FOLLOWS.search(line) else None
            for match in _BARE.finditer(_QUOTED.sub(lambda found: "_" * len(found[0]), line)):
                message = f"{match[1]} stands without quotes"
                yield CHECK.issue(page.path, number, message, f'Quote this link: "{match[1]}"')


CHECK = Check("unquoted-link", WARNING, "Links in properties are quoted, so that YAML keeps them.", _find)
