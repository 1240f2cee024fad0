"""The demo: sources on the history of computing, read and compiled as a night does it."""

from __future__ import annotations

from pathlib import Path

import pytest

import config
from config.settings import Settings, Staging
from tasks.compiling.analysis import Analysis, decode
from tasks.compiling.compile import Compilation, CompileRequest, SourceNotes
from tasks.compiling.extractive import ExtractiveCompiler, analyse_document
from tasks.pages.linking import Names, link_block
from tasks.reading.reading import ReadJob, ReadResult, read
from tasks.records import BlockKind, Outcome, PageProposal
from tasks.review.staging import hold_back

SOURCES = Path(config.__file__).parent / "data" / "demo" / "raw_sources"
LISTS = {"sources.yaml", "inbox.md"}


@pytest.fixture(scope="module")
def results() -> dict[str, ReadResult]:
    found = {}
    for path in sorted(SOURCES.iterdir()):
        if path.name not in LISTS:
            name = f"raw_sources/{path.name}"
            target = name if path.suffix in {".pdf", ".md"} else ""
            found[path.name] = read(ReadJob(path.name, str(path), name, target=target), Settings(), analyse_document)
    return found


@pytest.fixture(scope="module")
def notes(results: dict[str, ReadResult]) -> dict[str, Analysis]:
    return {name: decode(found.analysis) for name, found in results.items() if found.document is not None}


@pytest.fixture(scope="module")
def compiled(notes: dict[str, Analysis]) -> Compilation:
    def of(source: str) -> SourceNotes:
        return SourceNotes(source, f"raw_sources/{source}", notes[source].target, notes[source])

    topics = {source: found.topics for source, found in notes.items()}
    return ExtractiveCompiler().compile(CompileRequest(frozenset(topics), topics, of, ()))


def page(compiled: Compilation, title: str) -> PageProposal:
    return next(proposal for proposal in compiled.proposals if proposal.title == title)


def text(proposal: PageProposal) -> str:
    return "\n\n".join(block.text for block in proposal.blocks)


def test_it_is_small() -> None:
    """The demo travels with the package."""
    assert sum(path.stat().st_size for path in SOURCES.iterdir()) < 300_000


def test_every_source_is_read_but_the_scan(results: dict[str, ReadResult]) -> None:
    """All forms of source are read; the picture of a page says that it needs text recognition."""
    assert {name for name, found in results.items() if found.outcome != Outcome.OK} == {"scanned-memo.pdf"}
    assert results["scanned-memo.pdf"].outcome == Outcome.NO_TEXT


def test_pages(compiled: Compilation) -> None:
    """A page for each subject, no more."""
    assert sorted(proposal.title for proposal in compiled.proposals) == [
        "A short history of Unix", "Ada Lovelace", "Colossus", "ENIAC", "Early machines compared",
        "Five early computers", "Grace Hopper", "Manchester Baby", "Pascaline", "Zuse Z3",
    ]
    assert compiled.skipped == {}


def test_two_sources_on_one_machine_meet(compiled: Compilation) -> None:
    """The museum's page, the lecture notes and a section of the article are one page, its facts said once."""
    proposal = page(compiled, "Zuse Z3")
    assert {"zuse-z3.html", "lecture-zuse-z3.md", "early-computers.html"} == set(proposal.sources)
    assert text(proposal).count("2,600") == 1
    assert proposal.confidence == "high"


def test_two_years_for_the_moth(compiled: Compilation) -> None:
    """Where two sources give another year, the pair is told."""
    (clash,) = page(compiled, "Grace Hopper").clashes
    quotes = (clash.old.quote, clash.new.quote)
    assert any("On 9 September 1947 a moth was found" in quote for quote in quotes)
    assert any("in 1945." in quote for quote in quotes)


def test_only_the_thin_page_waits(compiled: Compilation) -> None:
    """With the default policy one page is held back, with its reason."""
    held = {proposal.title: hold_back(proposal, Staging()) for proposal in compiled.proposals}
    assert [title for title, reasons in held.items() if reasons] == ["Pascaline"]
    assert "thin" in held["Pascaline"][1]


def test_pages_link_to_each_other(compiled: Compilation) -> None:
    """Machines that a page names are linked, in the table too."""
    names = Names.of([(proposal.subject, proposal.title, proposal.aliases) for proposal in compiled.proposals])
    already = {"zuse-z3"}
    lecture = "\n\n".join(link_block(block.text, names, already) for block in page(compiled, "Zuse Z3").blocks)
    assert "[[eniac|ENIAC]]" in lecture
    assert "[[colossus|Colossus]]" in lecture
    table = next(block for block in page(compiled, "Early machines compared").blocks if block.kind == BlockKind.TABLE)
    assert "[[manchester-baby\\|Manchester Baby]]" in link_block(table.text, names, set())


def test_no_furniture(compiled: Compilation) -> None:
    """Nothing of the web pages' navigation, credits and appeals reaches a page."""
    everything = "\n".join(map(text, compiled.proposals))
    furniture = ("Subscribe", "newsletter", "Photo:", "rights reserved", "Log in", "cookies", "Thanks for")
    for words in furniture:
        assert words not in everything
