"""Links as Obsidian reads and resolves them."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.markdown import links, properties
from tasks.markdown.links import LinkIndex, parse


def targets(markdown: str) -> list[str]:
    """The targets of a text's links, in order."""
    return [link.target for link in parse(markdown)]


def resolved(link: str, source: str = "a/source.md", *paths: str, **aliases: list[str]) -> links.Resolution:
    """What one link opens in a vault of the given files; an alias is given as page=[...]."""
    index = LinkIndex(paths, {f"{name.replace('_', ' ')}.md": names for name, names in aliases.items()})
    return index.resolve(parse(link)[0], source)


@pytest.mark.parametrize("text", ["| [[Rate limits\\|limits]] | ok |", "[[Rate limits|limits]]"])
def test_a_pipe_is_escaped_in_tables_only(text: str) -> None:
    """The label is found behind a bare pipe and behind an escaped one."""
    (link,) = parse(text)
    assert (link.target, link.label) == ("Rate limits", "limits")


def test_a_written_link_is_read_back_in_prose_and_in_a_table() -> None:
    """Our own links carry a bare pipe in prose, an escaped one in a table, and mean the same."""
    prose, cell = (
        links.wikilink("rate-limits", "Rate limits"),
        links.wikilink("rate-limits", "Rate limits", in_table=True),
    )
    assert (prose, cell) == ("[[rate-limits|Rate limits]]", "[[rate-limits\\|Rate limits]]")
    assert [(link.target, link.label) for link in parse(prose + cell)] == [("rate-limits", "Rate limits")] * 2
    assert links.wikilink("alpha", "alpha") == "[[alpha]]"


@pytest.mark.parametrize(
    "text",
    [
        "`[[Ghost]]`",
        "``a ` [[Ghost]]``",
        "```\n[[Ghost]]\n```",
        "~~~md\n[[Ghost]]\n~~~",
        "    [[Ghost]]",
        "\t[[Ghost]]",
        "- a\n\n      [[Ghost]]",
        "> ```\n> [[Ghost]]\n> ```",
        "````\n```\n[[Ghost]]\n```\n````",
        "%%[[Ghost]]%%",
        "%%\n\n[[Ghost]]\n\n%%",
        "<!-- [[Ghost]] -->",
        "<!--\n\n[[Ghost]]\n-->",
        "$$\n[[Ghost]]\n$$",
        "$x [[Ghost]] y$",
        "\\[[Ghost]]",
        "\\[\\[Ghost\\]\\]",
        "[[Ghost\n]]",
        "[[]]",
        "[[ ]]",
        "<div>\n[[Ghost]]\n</div>",
        "```\n[[Ghost]]",
    ],
)
def test_code_comments_and_math_hold_no_links(text: str) -> None:
    """What Obsidian does not render as a link is none, whatever surrounds it."""
    assert targets(f"[[Alpha]]\n\n{text}\n") == ["Alpha"]


@pytest.mark.parametrize(
    "text",
    [
        "costs $5 and [[Ghost]] costs $6",
        "- item\n    [[Ghost]]",
        "a ` b [[Ghost]]",
        "50%% of [[Ghost]]",
        "text\n    [[Ghost]]",
    ],
)
def test_what_only_looks_like_code_or_math_hides_nothing(text: str) -> None:
    """Prices, lone backticks and hanging lines keep their links."""
    assert targets(text) == ["Ghost"]


def test_padding_headings_and_labels() -> None:
    """Padding is trimmed, nested headings and labels with slashes stay whole."""
    found = parse(
        "[[ Alpha ]] [[Alpha |see]] [[ Alpha #Intro | see ]] [[Pronouns#she/her|she/her forms]] [[#A#B]] [[x#^b1]]"
    )
    assert [(link.target, link.heading, link.label) for link in found] == [
        ("Alpha", "", ""),
        ("Alpha", "", "see"),
        ("Alpha", "Intro", "see"),
        ("Pronouns", "she/her", "she/her forms"),
        ("", "A#B", ""),
        ("x", "^b1", ""),
    ]


def test_embeds_markdown_links_and_properties() -> None:
    """Embeds, percent-encoded and bracketed paths, external addresses, and whole property values are all links."""
    text = (
        "---\nup: \"[[Alpha]]\"\nrelated:\n  - '[[Beta|b]]'\nraw: [[No, Link]]\n---\n"
        "![[x.png|100]] [a](My%20note.md#H%20x) "
        '[b](<two words.md>) [c](https://e.org "T") ![i](p_(1).png) [![i](in.png)](out.md)'
    )
    found = parse(text)
    assert [(link.target, link.embed, link.external, link.property) for link in found] == [
        ("Alpha", False, False, True),
        ("Beta", False, False, True),
        ("x.png", True, False, False),
        ("My note.md", False, False, False),
        ("two words.md", False, False, False),
        ("https://e.org", False, True, False),
        ("p_(1).png", True, False, False),
        ("out.md", False, False, False),
        ("in.png", True, False, False),
    ]
    assert found[3].heading == "H x" and [link.line for link in found[:3]] == [2, 4, 7]


@given(st.text(alphabet="[]()|#^!\\`~$%<>- \nab.é", max_size=80))
def test_any_text_is_read_and_offsets_are_true(text: str) -> None:
    """No text makes the parser fail, and every link lies where it says."""
    for link in parse(text):
        assert text[link.start : link.end].startswith(("[", "!["))
        assert text.count("\n", 0, link.start) + 1 == link.line


@pytest.mark.parametrize(
    ("link", "paths", "path"),
    [
        ("[[acme.daemon]]", ["acme.daemon.md"], "acme.daemon.md"),
        ("[[Alpha.md]]", ["b/Alpha.md"], "b/Alpha.md"),
        ("[[ALPHA]]", ["b/alpha.md"], "b/alpha.md"),
        ("[[Cafe\u0301]]", ["Caf\u00e9.md"], "Caf\u00e9.md"),
        ("[[Alpha]]", ["z/Alpha.md", "a/Alpha.md", "Alpha.md"], "Alpha.md"),
        ("[[Alpha]]", ["z/Alpha.md", "a/x/Alpha.md"], "a/x/Alpha.md"),
        ("[[Alpha]]", ["long/z/Alpha.md", "b/Alpha.md"], "b/Alpha.md"),
        ("[[z/Alpha]]", ["q/z/Alpha.md", "qz/Alpha.md"], "q/z/Alpha.md"),
        ("[[/z/Alpha]]", ["q/z/Alpha.md", "z/Alpha.md"], "z/Alpha.md"),
        ("[x](../b/Alpha.md)", ["b/Alpha.md", "c/b/Alpha.md"], "b/Alpha.md"),
        ("[x](./Alpha.md)", ["Alpha.md", "a/Alpha.md"], "a/Alpha.md"),
        ("[x](b/My%20note.md)", ["b/My note.md"], "b/My note.md"),
        ("![[chart.png|100]]", ["img/Chart.PNG", "chart.png.md"], "img/Chart.PNG"),
        ("[[report.pdf#page=3]]", ["raw/report.pdf"], "raw/report.pdf"),
        ("[[note.v2]]", ["note.v2.md", "note.md"], "note.v2.md"),
        ("[[#Intro]]", [], "a/source.md"),
    ],
)
def test_links_open_what_obsidian_opens(link: str, paths: list[str], path: str) -> None:
    """Exact path, then the own folder, then the shortest path; case, Unicode form and '.md' do not matter."""
    assert resolved(link, "a/source.md", *paths) == links.Resolution(path)


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("[[Nowhere]]", "dead-page"),
        ("[[chart.png]]", "missing-attachment"),
        ("[[acme.daemon]]", "dead-page"),
        ("[[why-x/?ref=ex.org]]", "not-a-page-name"),
        ("[[https://ex.org/]]", "not-a-page-name"),
        ("[[../../etc/passwd]]", "not-a-page-name"),
        ("[[C:\\x]]", "not-a-page-name"),
        ("[x](https://ex.org)", ""),
    ],
)
def test_links_to_nothing_say_why(link: str, problem: str) -> None:
    """A missing page, a missing attachment and what can be no page's name are told apart."""
    assert resolved(link, "a/source.md", "b/other.md").problem == problem


def test_an_alias_is_no_link() -> None:
    """A bare alias would open an empty note; it is reported with the page, or as ambiguous with all of them."""
    aliases = {"Program_Counter": ["PC"], "One": ["ALU"], "Two": ["ALU"]}
    paths = ("Program Counter.md", "One.md", "Two.md")
    assert resolved("[[PC]]", "s.md", *paths, **aliases) == links.Resolution("", "alias-only", ("Program Counter.md",))
    assert resolved("[[alu]]", "s.md", *paths, **aliases).problem == "ambiguous"
    assert resolved("[[Program Counter|PC]]", "s.md", *paths, **aliases).problem == ""


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("[[#Tether mether]]", ""),
        ("[[Pronouns#she/her|x]]", ""),
        ("[[#gone]]", "dead-heading"),
        ("[[#^b-1]]", ""),
        ("[[#^nope]]", "dead-block"),
        ("[[#she/her#Tether mether]]", ""),
        ("[[#Tether mether#she/her]]", "dead-heading"),
        ("[[#In `code`: a]]", ""),
        ("[[#Under lined]]", ""),
        ("[[#not a heading]]", "dead-heading"),
    ],
)
def test_headings_and_blocks_are_looked_up(link: str, problem: str) -> None:
    """A missing heading is a dead heading, not a dead page; punctuation and case do not matter, nesting does."""
    note = "## she/her\n\nx ^b-1\n\n### Tether mether\n\n## In `code`: A\n\nUnder lined\n---\n"
    note += "\n```\n# not a heading\n```\n"
    index = LinkIndex(["Pronouns.md"], {}, lambda path: links.anchors(note))
    assert index.resolve(parse(link)[0], "Pronouns.md") == links.Resolution("Pronouns.md", problem)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "anchor", "link"),
    [
        ("raw_sources/report.pdf", "page=3", "[[raw_sources/report.pdf#page=3]]"),
        ("evidence/zuse.md", "^p7", "[[evidence/zuse#^p7]]"),
        ("raw_sources/notes.md", "Zuse: life [1]", "[[raw_sources/notes#Zuse life 1]]"),
        ("raw/a#1 [x].pdf", "page=2", r"[a#1 \[x\].pdf](raw/a%231%20%5Bx%5D.pdf#page=2)"),
    ],
)
def test_anchor_links_lead_back_to_their_place(target: str, anchor: str, link: str) -> None:
    """A place in a file is linked such that it is found again, also when the name allows no wikilink."""
    assert links.anchor_link(target, anchor) == link
    found = LinkIndex([target], {}).resolve(parse(link)[0], "wiki/page.md")
    assert found == links.Resolution(target)


@pytest.fixture(scope="module")
def help_vault(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 173 notes of Obsidian's own help."""
    folder = tmp_path_factory.mktemp("help")
    with zipfile.ZipFile(shared / "vaults" / "obsidian-help-en.zip") as archive:
        archive.extractall(folder)
    return folder


def test_the_links_of_obsidian_s_help_resolve(help_vault: Path) -> None:
    """Every link between the help's notes opens a note and a heading; only examples and left-out pictures do not."""
    notes = {str(path.relative_to(help_vault)): path.read_text(encoding="utf-8") for path in help_vault.rglob("*.md")}
    anchors = {path: links.anchors(text) for path, text in notes.items()}
    aliases = {path: properties.aliases(properties.read(text).values) for path, text in notes.items()}
    index = LinkIndex(notes, aliases, anchors.get)
    found = Counter(
        (index.resolve(link, path).problem, "" if index.resolve(link, path).problem != "dead-page" else link.target)
        for path, text in notes.items()
        for link in parse(text)
        if not link.external
    )
    dead = {("dead-page", "Example"): 4, ("dead-page", "Example.md"): 2}
    assert {kind: n for kind, n in found.items() if kind[0] not in ("", "missing-attachment")} == dead
    assert found[("", "")] > 1500


def test_links_agree_with_an_independent_reader(help_vault: Path) -> None:
    """obsidiantools finds the same links in the help, but for the differences named here."""
    api = pytest.importorskip("obsidiantools.api")
    vault = api.Vault(help_vault).connect()
    differences = {}
    for name, path in vault.md_file_index.items():
        found = parse((help_vault / path).read_text(encoding="utf-8"))
        mine = Counter(link.target for link in found if link.kind == "wiki" and not link.embed and link.target)
        theirs = Counter(link.split("#")[0] for link in vault.get_wikilinks(name) if link[:1] not in ("", "#"))
        if mine != theirs:
            differences[Path(path).name] = (mine - theirs, theirs - mine)
        embeds = Counter(link.target for link in found if link.kind == "wiki" and link.embed)
        assert embeds == Counter(link.split("#")[0] for link in vault.get_embedded_files(name))
    # it takes escaped brackets, \[\[as here\]\], for links; Obsidian shows them as text
    assert differences == {
        "Internal links.md": (Counter(), Counter({"Wikilinks": 1})),
        "Link notes.md": (Counter(), Counter({"Three laws of motion": 1, "double bracket syntax": 1})),
    }
