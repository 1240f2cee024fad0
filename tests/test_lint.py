"""Lint finds what is wrong with the pages, and mends nothing but what the pipeline wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from config.wiki import Wiki, open_wiki
from flows.lint import LintReport, lint
from flows.night import sync
from flows.steps import DirectRunner
from flows.undo import undo
from tasks.embedding.near import Compared, compare
from tasks.lint.registry import CHECKS
from tasks.records import EmbeddingRecord, Finding
from tests import wikis
from tests.wikis import COLOSSUS, ENIAC, put, run, vault


@pytest.fixture(scope="module")
def after_a_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages that the pipeline wrote, Colossus with a link to ENIAC."""
    root = tmp_path_factory.mktemp("lint") / "w"
    run(wikis.make(root, wikis.SETTINGS + "staging:\n  policy: off\n", eniac=ENIAC, colossus=COLOSSUS))
    return root


@pytest.fixture
def wiki(after_a_night: Path, tmp_path: Path) -> Wiki:
    return open_wiki(Path(shutil.copytree(after_a_night, tmp_path / "w")))


def stem(wiki: Wiki, title: str) -> str:
    return next(path.stem for path in (wiki.root / "wiki").glob(f"{title}*.md"))


def look(wiki: Wiki, fix: bool = False, day: int = 2) -> LintReport:
    return lint(wiki, DirectRunner(), f"2026-03-{day:02d}T12:00:00Z", fix)


def found(wiki: Wiki, check: str) -> list[Finding]:
    return [one for one in look(wiki).findings if one.check == check]


def messages(wiki: Wiki, check: str) -> list[str]:
    return [f"{one.page}: {one.message}" for one in found(wiki, check)]


def test_every_check_explains_itself() -> None:
    """Names are unique, severities are two, each asks something in a sentence."""
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert {check.severity for check in CHECKS} == {"error", "warning"}
    assert all(check.sentence.endswith(".") for check in CHECKS)


def test_a_night_leaves_nothing_but_orphans(wiki: Wiki) -> None:
    """What the pipeline writes is free of faults; only the page that nobody links to is told."""
    assert {one.check for one in look(wiki).findings} <= {"orphan"}


def test_a_deleted_page_leaves_a_dead_link_with_its_day(wiki: Wiki) -> None:
    """It is told after the deletion, and gone once the page is back, with no run in between."""
    put(wiki.root, "wiki/a.md", "See [[b]] and `[[ghost]]`.\n")
    put(wiki.root, "wiki/b.md", "Nothing.\n")
    sync(wiki, DirectRunner(), "2026-03-01T12:00:00Z")
    assert messages(wiki, "dead-link") == []
    (wiki.root / "wiki/b.md").unlink()
    told = ["wiki/a.md: [[b]] leads nowhere: that page was deleted on 2026-03-02"]
    assert messages(wiki, "dead-link") == told
    sync(wiki, DirectRunner(), "2026-03-02T13:00:00Z")
    assert messages(wiki, "dead-link") == told
    put(wiki.root, "wiki/b.md", "Back.\n")
    assert messages(wiki, "dead-link") == []


def test_aliases_are_no_names(wiki: Wiki) -> None:
    """An alias alone is told with the link to write; one of two pages is ambiguous; no stub page is made."""
    put(wiki.root, "wiki/Program Counter.md", "---\naliases: [PC, ALU]\n---\nx\n")
    put(wiki.root, "wiki/Unit.md", "---\naliases: [ALU]\n---\nx\n")
    put(wiki.root, "wiki/n.md", "[[PC]] and [[ALU]].\n")
    before = vault(wiki.root)
    look(wiki, fix=True)
    assert vault(wiki.root) == before
    assert [one.fix for one in found(wiki, "alias-only-link")] == ["Write [[Program Counter|PC]]"]
    assert [one.fix for one in found(wiki, "ambiguous-link")] == ["Write [[Program Counter|ALU]] or [[Unit|ALU]]"]
    told = "wiki/Unit.md: its alias 'ALU' is also the alias of wiki/Program Counter.md"
    assert messages(wiki, "duplicate-alias") == [told]


def test_orphans(wiki: Wiki) -> None:
    """Links to oneself, the index and the property `sources` do not count; a new link clears the finding at once."""
    put(wiki.root, "wiki/a.md", "I am [[a]].\n")
    put(wiki.root, "wiki/b.md", "x\n")
    put(wiki.root, "wiki/c.md", '---\nsources:\n  - "[[b]]"\nup: "[[d]]"\n---\nx\n')
    put(wiki.root, "wiki/d.md", "See [[c]].\n")
    told = {one.page for one in found(wiki, "orphan")}
    assert {"wiki/a.md", "wiki/b.md"} <= told and not {"wiki/c.md", "wiki/d.md"} & told
    put(wiki.root, "wiki/d.md", "See [[c]] and [[b|that]].\n")
    assert "wiki/b.md" not in {one.page for one in found(wiki, "orphan")}


def test_fix_takes_the_link_off_and_leaves_the_words(wiki: Wiki) -> None:
    """Only in blocks of the pipeline; the person's own line keeps its dead link."""
    eniac, colossus = stem(wiki, "eniac"), stem(wiki, "colossus")
    text = wikis.page(wiki.root, colossus)
    assert f"[[{eniac}|ENIAC]]" in text
    put(wiki.root, f"wiki/{colossus}.md", text.replace("\n[^nw-", f"\nMine: [[{eniac}]].\n\n[^nw-", 1))
    edited = wikis.page(wiki.root, colossus)
    (wiki.root / f"wiki/{eniac}.md").unlink()
    report = look(wiki, fix=True)
    assert wikis.page(wiki.root, colossus) == edited.replace(f"[[{eniac}|ENIAC]]", "ENIAC")
    assert [one.page for one in report.fixed] == [f"wiki/{colossus}.md"]
    assert [one.page for one in report.findings if one.check == "dead-link" and "index" not in one.page] == [
        f"wiki/{colossus}.md"
    ]
    before = vault(wiki.root)
    assert run(wiki, 3).changed == () and look(wiki, fix=True, day=4).fixed == ()
    assert vault(wiki.root) == before


def test_fix_keeps_line_endings_and_can_be_undone(wiki: Wiki) -> None:
    """A file with Windows endings keeps them, and undoing the run gives the former bytes."""
    eniac, page = stem(wiki, "eniac"), wiki.root / f"wiki/{stem(wiki, 'colossus')}.md"
    page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))
    (wiki.root / f"wiki/{eniac}.md").unlink()
    sync(wiki, DirectRunner(), "2026-03-02T10:00:00Z")
    before = vault(wiki.root)
    report = look(wiki, fix=True)
    mended = {**before, f"wiki/{page.name}": page.read_bytes()}
    assert vault(wiki.root) == mended
    assert page.read_bytes() == before[f"wiki/{page.name}"].replace(f"[[{eniac}|ENIAC]]".encode(), b"ENIAC")
    undo(wiki, report.run, "2026-03-03T10:00:00Z")
    assert vault(wiki.root) == before


def test_lint_without_fix_writes_nothing(wiki: Wiki) -> None:
    """Neither the vault nor the state is touched by looking."""
    (wiki.root / f"wiki/{stem(wiki, 'eniac')}.md").unlink()
    before = {path: path.read_bytes() for path in wiki.root.rglob("*") if path.is_file()}
    look(wiki)
    assert {path: path.read_bytes() for path in wiki.root.rglob("*") if path.is_file()} == before


def test_properties(wiki: Wiki) -> None:
    """Links without quotes and broken lines are told with their line; text that only looks like it is not."""
    put(wiki.root, "wiki/a.md", "---\nup: [[Alpha, Beta]]\nok: '[[b]]'\nnote: |\n  - [[c]]\nlist: [[[d]]]\n---\nx\n")
    put(wiki.root, "wiki/b.md", "---\ntitle: A: b: c\n---\nx\n")
    assert [(one.page, one.line) for one in found(wiki, "unquoted-link")] == [("wiki/a.md", 2), ("wiki/a.md", 6)]
    assert [(one.page, one.line) for one in found(wiki, "malformed-properties")] == [("wiki/b.md", 2)]


def test_citations_must_stand_in_the_evidence(wiki: Wiki) -> None:
    """A figure that was changed in the source is enough; so is a source that is gone."""
    place = wiki.root / "raw_sources/eniac.md"
    place.write_text(place.read_text().replace("18,000", "17,000"))
    assert [one.page for one in found(wiki, "lost-citation")] == [f"wiki/{stem(wiki, 'eniac')}.md"]
    assert messages(wiki, "stale") == [
        f"wiki/{stem(wiki, 'eniac')}.md: its source raw_sources/eniac.md has changed since it was read"
    ]
    place.unlink()
    assert all("is gone" in message for message in messages(wiki, "stale"))
    assert found(wiki, "lost-citation")


def test_names_and_copies(wiki: Wiki) -> None:
    """Names that fold together and copies that sync tools leave are told, where they lie."""
    put(wiki.root, "wiki/Config.md", "a\n")
    put(wiki.root, "wiki/config.md", "b\n")
    put(wiki.root, "wiki/caf\u00e9.md", "a\n")
    put(wiki.root, "wiki/cafe\u0301.md", "b\n")
    for name in ("x (Ann's conflicted copy 2026-03-01)", "y.sync-conflict-20260301-101500-ABCDEFG", "Chapter 2"):
        put(wiki.root, f"wiki/{name}.md", "x\n")
    assert [one.page for one in found(wiki, "name-clash")] == ["wiki/caf\u00e9.md", "wiki/config.md"]
    assert len(found(wiki, "conflict-copy")) == 2


def test_branches_count_once_there_is_a_table(wiki: Wiki) -> None:
    """Without ROUTING.md no page is outside of it."""
    assert found(wiki, "no-branch") == []
    put(wiki.root, "ROUTING.md", f"## Machines\n\n- [[{stem(wiki, 'eniac')}]]\n")
    assert [one.page for one in found(wiki, "no-branch")] == [f"wiki/{stem(wiki, 'colossus')}.md"]


def test_only_new_embeddings_are_compared() -> None:
    """Known pairs stay while both pages do; a changed page is compared with all."""

    def row(page: str, vector: tuple[float, float], text: str = "1") -> EmbeddingRecord:
        return EmbeddingRecord(page, text, "m", np.array(vector, dtype="<f4").tobytes())

    first = compare([row("a", (1, 0)), row("b", (0, 1)), row("c", (1, 0))], Compared({}), 0.9)
    assert first.pairs == (("a", "c", 1.0),)
    kept = compare([row("a", (1, 0)), row("b", (0, 1)), row("c", (0, 1))], first, 0.9)
    assert kept.pairs == first.pairs
    again = compare([row("b", (0, 1)), row("c", (0, 1), "2")], kept, 0.9)
    assert again.pairs == (("b", "c", 1.0),)
