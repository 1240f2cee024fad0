"""Where a page's text begins behind its properties, for all that only reads pages."""

from __future__ import annotations

import pytest

from tasks.markdown import plain, properties


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_properties_that_never_close_are_text(newline: str) -> None:
    """In time linear in the page, however its lines end."""
    text = f"---{newline}" + f"a: b{newline}" * 5000
    assert plain.body_start(text) == 0 == properties.body_start(text)
    assert plain.body_start(f"{text}---\n") in (len(text) + 4, 0)
