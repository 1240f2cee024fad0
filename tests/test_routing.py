"""ROUTING.md through its commands: made once, cleaned of what is gone, and else the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import NightwikiError
from flows import routing
from flows.scaffold import scaffold
from flows.steps import DirectRunner
from tasks.markdown import links
from tasks.navigation import branches, route
from tests import wikis
from tests.wikis import COLOSSUS, ENIAC, put, run

NOW = "2026-03-05T12:00:00Z"
INDEX = links.LinkIndex(["wiki/eniac.md", "raw/scan.pdf", "notes/mine.md"], {"wiki/eniac.md": ["Big Iron"]})

TABLE = """My \u2028 words.

## People
- [[alan-turing]] was here
- [[eniac]]
- [[alan-turing]] and [[eniac]]
- [[gone-branch]]
    - [[eniac]] below
- [[Big Iron]]
- [[old-name]]
- [site](https://example.org/gone)
"""


def test_clean_takes_only_entries_whose_page_is_gone() -> None:
    """Lines that lead anywhere, carry others or name an alias stay, that of a renamed page leads there; no more."""
    cleaned = branches.clean(TABLE, INDEX, {"old-name": "eniac"})
    kept = TABLE.replace("- [[alan-turing]] was", "- alan-turing was").replace("[[old-name]]", "[[eniac|old-name]]")
    assert cleaned == branches.Cleaned(kept, ("alan-turing",), ("old-name",))


LINES = ("## A", "## B ##", "- [[eniac]]", "- [[gone]]", "\t- [[gone|x]] y", "* [[lost]] [[eniac]]", "- [ ] [[lost]]")
OTHER = ("words", "", "```", "> - [[gone]]", "- `[[gone]]`", "\u2028", "---", "<!-- [[gone]] -->", "- [[#here]]")


@given(st.lists(st.sampled_from(LINES + OTHER), max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
def test_whatever_a_person_types_clean_only_removes_dead_entries(lines: list[str], ending: str) -> None:
    """The rest stays in its order byte for byte, and a second time there is nothing to do."""
    text = ending.join(lines)
    cleaned = branches.clean(text, INDEX, {})
    kept, removed = cleaned.text, cleaned.removed
    before, after = route.rows(text), route.rows(kept)
    gone = [row for row in before if "[[gone" in row or "[[lost]]" in row]
    words = [row for row in after if row not in before]  # entries on which a person wrote more
    assert len(before) - len(after) + len(words) == len(removed) and all("x y" in row for row in words)
    rest = iter(before)
    assert all(row in words or any(row == other for other in rest) for row in after)
    assert all(row in after for row in before if row not in gone)
    assert branches.clean(kept, INDEX, {}) == branches.Cleaned(kept)


def test_validate_tells_each_fault_with_its_line() -> None:
    """Dangling, renamed, by alias alone, twice."""
    found = branches.validate(TABLE + "## people\n", INDEX, {"old-name": "eniac"})
    assert [(one.check, one.line) for one in found] == [
        ("dangling-entry", 4),
        ("listed-twice", 6),
        ("dangling-entry", 6),
        ("dangling-entry", 7),
        ("listed-twice", 8),
        ("alias-only", 9),
        ("renamed-entry", 10),
        ("duplicate-branch", 12),
    ]


def test_a_table_is_made_once(tmp_path: Path) -> None:
    """From the index's categories; a second time only by force, which says what is lost."""
    policy = wikis.SETTINGS + "staging:\n  policy: off\n"
    wiki = wikis.make(tmp_path / "w", policy, eniac=ENIAC, colossus=COLOSSUS)
    run(wiki)
    index = wiki.root / "wiki/index.md"
    index.write_text(index.read_text().replace("## More pages", "## Machines"))
    report = routing.init(wiki, DirectRunner(), NOW)
    assert report.branches == (("Machines", 2),) and routing.validate(wiki, NOW) == ()
    with pytest.raises(NightwikiError, match="already"):
        routing.init(wiki, DirectRunner(), NOW)
    put(wiki.root, "ROUTING.md", "Mine.\n\n## A\n\n- [[x]]\n")
    assert routing.init(wiki, DirectRunner(), NOW, force=True, dry_run=True).lost == branches.Lost(1, 1, 1)
    assert routing.clean(wiki, DirectRunner(), NOW).removed == ("x",)
    assert (wiki.root / "ROUTING.md").read_text() == "Mine.\n\n## A\n\n"


def test_scaffold_leaves_a_deleted_index_to_the_person(tmp_path: Path) -> None:
    """The weekly run does not bring it back; asked for by name it is made."""
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "staging:\n  policy: off\n", eniac=ENIAC)
    run(wiki)
    index = wiki.root / "wiki/index.md"
    before = index.read_text()
    put(wiki.root, "wiki/index.md", before.replace("# test", "# test\n\nMine."))
    first = scaffold(wiki, DirectRunner(), NOW).changed
    assert first == ("wiki/candidates/candidates.base", "wiki/needs-attention.base")
    assert scaffold(wiki, DirectRunner(), NOW).changed == ()
    index.unlink()
    assert "deleted by a person" in scaffold(wiki, DirectRunner(), NOW, make=False).left and not index.exists()
    assert scaffold(wiki, DirectRunner(), NOW).changed == ("wiki/index.md",)
    assert index.read_text() == before
