"""A page that a person wrote on, in whatever way, does not go with its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.markdown.properties import comments
from tests import wikis
from tests.wikis import ENIAC, page, put, run

EDITS = {
    "comment": ("type: topic\n", "# mine\ntype: topic\n"),
    "comment behind a value": ("tags:\n", "tags: # mine\n"),
    "value that is no YAML": ("type: topic\n", "type: topic: mine: x\n"),
    "key twice": ("type: topic\n", "type: topic\ntype: mine\n"),
    "key in capitals": ("type: topic\n", "type: topic\nType: mine\n"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_page_with_edited_properties_stays_without_its_source(tmp_path: Path, edit: str) -> None:
    """What the source said goes; the properties stay byte for byte, but for those that are the pipeline's."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    before, after = EDITS[edit]
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac").replace(before, after))
    (wiki.root / "raw_sources/machine.md").unlink()
    run(wiki, 2)
    assert after in page(wiki.root, "eniac") and "accumulators" not in page(wiki.root, "eniac").split("nightwiki_id")[1]


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("a: x # y", ("# y",)),
        ("#y\na: x", ("#y",)),
        ("a:\n  - b #c\n  # d", ("#c", "# d")),
        ("a: it's # y's\r\nb: 'c' # d", ("# y's", "# d")),
        ('a: x # "y\nb: "c" # d', ('# "y', "# d")),
        ("a: x#y", ()),
        ('a: "x # y"', ()),
        ("a: 'it''s # y'", ()),
        ('a:\n  - "[[raw_sources/C #|x \\" # y]]"', ()),
    ],
)
def test_comments_among_properties_are_told_from_values(inner: str, expected: tuple[str, ...]) -> None:
    """A sharp in quotes or inside a word begins none, and the body does not count."""
    assert comments(f"---\n{inner}\n---\n\n# Heading\n") == expected
