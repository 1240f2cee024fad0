"""Which form of an answer a client gets."""

from __future__ import annotations

import pytest

from serving.rest.accepted import preferred


@pytest.mark.parametrize(
    ("accept", "markdown"),
    [
        ("text/markdown", True),
        ("TEXT/Markdown; charset=utf-8", True),
        ("text/*", True),
        ("text/markdown, application/json", True),
        ("text/markdown, */*;q=0.1", True),
        ("text/markdown, */*", True),
        ("text/markdown;q=0.5, application/json", False),
        ("application/json", False),
        ("*/*", False),
        ("", False),
        ("text/markdown;q=0", False),
        ("text/markdown;q=nonsense", False),
        ("image/png", False),
    ],
)
def test_markdown_for_those_who_would_rather_have_it(accept: str, markdown: bool) -> None:
    """Qualities count, and so do families of kinds; whoever takes anything is given JSON."""
    assert preferred(accept, "text/markdown") is markdown
