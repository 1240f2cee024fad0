"""A new page is the same whether it is merged and linked in one go, or merged first and linked afterwards."""

from __future__ import annotations

import subprocess
import sys

from tasks.crew import Crew
from tasks.pages.first_page import Common, NewPage, first_page
from tasks.pages.linking import Names
from tasks.pages.merge import new_page
from tasks.pages.relink import relink
from tasks.records import BlockKind, Citation, PageProposal, ProposedBlock

NAMES = Names.of(
    [
        ("konrad-zuse", "Konrad Zuse", ("Zuse",)),
        ("the-z3", "The Z3", ()),
        ("the-z4", "The Z4", ("Z4",)),
        ("relay", "Relay", ()),
    ]
)


def unresolved(target: str) -> str:
    return ""


COMMON = Common("2026-01-01T00:00:00Z", NAMES, ("gone",), unresolved, {"s1": "[[evidence/z3-s1]]"})


def proposal(number: int) -> PageProposal:
    """A page that names others in a paragraph, a list and a table, already links one, and names itself."""
    cited = Citation("s1", "evidence/z3-s1.md", "^p1", "Konrad Zuse built the Z3", "nw-00000001")
    texts = (
        (BlockKind.PARAGRAPH, f"Konrad Zuse built the Z3 with {number} relays.[^nw-00000001]"),
        (BlockKind.LIST, "- The Z4 came later\n- [[relay|A relay]] clicks, and [[gone|what is gone]] does not"),
        (BlockKind.TABLE, "| Name | Kind |\n| --- | --- |\n| Zuse | person |\n| Relay | part |"),
    )
    blocks = tuple(
        ProposedBlock(f"b{place}", kind, text, () if place else (cited,)) for place, (kind, text) in enumerate(texts)
    )
    return PageProposal(f"machine-{number}", "", f"Machine {number}", blocks, ("s1",))


def test_one_go_gives_what_two_steps_give() -> None:
    """Text, hashes and blocks are those of merging and linking."""
    made = new_page(proposal(3), "id3", "pages/machine-3.md", COMMON.now, COMMON.source_links, unresolved)
    page = first_page(COMMON, NewPage(proposal(3), "id3", "pages/machine-3.md"))
    assert page == relink(made.record, NAMES, COMMON.gone, unresolved)
    assert "[[konrad-zuse|Konrad Zuse]] built [[the-z3|the Z3]]" in page.markdown
    assert "[[gone" not in page.markdown


def test_other_processes_make_the_same_pages() -> None:
    """A page does not depend on where it is made."""
    new = [NewPage(proposal(number), f"id{number}", f"pages/machine-{number}.md") for number in range(40)]
    with Crew(2, few=10) as crew:
        assert crew.many(first_page, COMMON, new) == [first_page(COMMON, one) for one in new]


def test_the_processes_of_a_night_load_no_settings() -> None:
    """What they carry out needs no validation, which takes each of them longer to load than all the rest."""
    work = "tasks.reading.worker, tasks.compiling.extractive, tasks.pages.first_page"
    work += ", tasks.markdown.resolver, storage.search.search_index"
    code = f"import sys, {work}; print({{'pydantic', 'config.settings'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
