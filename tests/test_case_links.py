"""Links and properties of odd shapes, through whole nights and the one parser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.markdown import properties
from tasks.markdown.links import LinkIndex, anchors, parse
from tests import wikis
from tests.invariants import broken
from tests.wikis import COLOSSUS, ENIAC, page, put, run

NOTES = {
    "Rate limits.md": "# Rate limits\n\n## Intro\n",
    "acme.daemon.md": "x",
    "v1.2.md": "x",
    "Pronouns.md": "### Tether mether\n\n## she/her\n",
    "Program Counter.md": "x",
    "A.md": "x",
    "B.md": "x",
}
ALIASES = {"Program Counter.md": ["PC"], "A.md": ["ALU"], "B.md": ["ALU"]}


def _problems(text: str, source: str = "Here.md") -> list[str]:
    index = LinkIndex([*NOTES, source], ALIASES, lambda path: anchors(NOTES[path]) if path in NOTES else None)
    return [index.resolve(link, source).problem for link in parse(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| [[Rate limits\\|limits]] | ok |\n|---|---|\n\n[[Rate limits|limits]]", ["", ""]),
        ("[[ Rate limits ]] [[Rate limits |see]] [[ Rate limits #Intro | see ]]", ["", "", ""]),
        ("`[[Ghost]]`\n\n```\n[[Ghost]]\n```\n\n    [[Ghost]]\n\n~~~\n[[Ghost]]\n~~~\n\n[[A]]", [""]),
        ("[[acme.daemon]] [[v1.2]] [[chart.png]] [[scan.pdf]]", ["", "", "missing-attachment", "missing-attachment"]),
        ("[[PC]] [[ALU]] [[pc]]", ["alias-only", "ambiguous", "alias-only"]),
        ("[[why-x/?ref=ex.org]] [[https://ex.org/]] [[../../etc/passwd]]", ["not-a-page-name"] * 3),
        ("[[Pronouns#she/her|she/her forms]] [[Pronouns#Gone]] [[Gone]]", ["", "dead-heading", "dead-page"]),
    ],
)
def test_odd_links_lead_where_obsidian_leads_them(text: str, expected: list[str]) -> None:
    """Pipes, padding, code, dots, aliases and paths."""
    assert expected == _problems(text)


def test_a_heading_of_the_same_page_is_no_other_page() -> None:
    """A link that begins with # stays on its page, label and slashes included."""
    assert _problems("[[#Tether mether]] [[#she/her|she/her]] [[#Gone]]", "Pronouns.md") == ["", "", "dead-heading"]


def test_a_dead_link_lives_again_with_its_page() -> None:
    """Nothing is remembered of a link: the files say whether it leads somewhere."""
    (link,) = parse("[[B]]")
    vaults = (["A.md", "B.md"], ["A.md"], ["A.md", "B.md"])
    assert [LinkIndex(files, {}).resolve(link, "A.md").problem for files in vaults] == ["", "dead-page", ""]


@pytest.mark.parametrize("title", ["Rust: part 1 : traits", 'He said "no"', "@x", "{a}", "Yes", "Hi 🌍 é"])
def test_titles_that_break_yaml_come_back_as_they_are(tmp_path: Path, title: str) -> None:
    """The page's title is the source's, whatever its characters."""
    wiki = wikis.make(tmp_path / "w")
    put(wiki.root, "raw_sources/a.md", ENIAC.replace("# ENIAC", f"# {title}"))
    run(wiki)
    pages = [p for p in (wiki.root / "wiki").rglob("*.md") if p.name != "index.md"]
    assert [properties.read(p.read_text()).values["title"] for p in pages] == [title] and broken(wiki) == []


def test_only_the_line_that_changed_differs(tmp_path: Path) -> None:
    """A person's keys, comments, order and spelling survive a night that edits the block."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    mine = "zeta: 1\n# note\nalpha: NO\nver: 1.10\nzip: 01234\nat: 12:30\nwhen: 2022-12-06T09:05:28-06:00\n"
    mine += "up: [[A, B]]\n"
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac").replace("---\n", f"---\n{mine}", 1))
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    assert page(wiki.root, "eniac").startswith(f"---\n{mine}") and "17,468" in page(wiki.root, "eniac")


def test_a_rule_that_is_no_property_block_is_text(tmp_path: Path) -> None:
    """A letterhead between rules, and one with a byte-order mark, are read as sources in full."""
    wiki = wikis.make(tmp_path / "w")
    put(wiki.root, "raw_sources/letter.md", "---\nACME Ltd\n1 High St\n---\n" + COLOSSUS)
    put(wiki.root, "raw_sources/marked.md", "\ufeff---\ntitle: ENIAC\n---\n" + ENIAC)
    report = run(wiki)
    assert report.created == 2 and broken(wiki) == []
    assert properties.read(page(wiki.root, "eniac")).values["title"] == "ENIAC"
