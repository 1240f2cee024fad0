"""Web pages of few words: price lists, glossaries, notices, pieces of HTML, and forms that keep readers out."""

from __future__ import annotations

import pytest

from config.errors import SourceError
from tasks.extraction.html import extract
from tasks.records import BlockKind, Outcome

ROWS = "<table><tr><th>Lamp<th>Lit<tr><td>Fanal<td>1851<tr><td>Ness<td>1870</table>"
TABLE = "| Lamp | Lit |\n| --- | --- |\n| Fanal | 1851 |\n| Ness | 1870 |"


def blocks(body: str) -> list[tuple[BlockKind, str]]:
    return [(part.kind, part.text) for part in extract(body).parts]


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (f"<html><body>{ROWS}</body></html>", BlockKind.TABLE, TABLE),
        (ROWS, BlockKind.TABLE, TABLE),
        (f"<html><body><h1>Lamps</h1><div>{ROWS}</div></body></html>", BlockKind.TABLE, TABLE),
        ("<html><body><pre>def lit(x):\n    return x + 1\n</pre>", BlockKind.CODE, "def lit(x):\n    return x + 1"),
        (
            "<html><body><ol><li>Trim the wick<li>Wind the clock</ol>",
            BlockKind.LIST,
            "1. Trim the wick\n2. Wind the clock",
        ),
        (
            "<html><body><dl><dt>Wick<dd>Cotton that burns.<dt>Lens<dd>Glass that bends light.</dl>",
            BlockKind.LIST,
            "- Wick: Cotton that burns.\n- Lens: Glass that bends light.",
        ),
    ],
    ids=["table", "table alone", "below a heading", "program", "steps", "glossary"],
)
def test_a_page_of_one_block_keeps_it(body: str, kind: BlockKind, text: str) -> None:
    """A page that holds nothing but a table, a program, a list or a glossary is read as that."""
    assert blocks(body)[-1] == (kind, text)


def test_questions_and_answers_stand_apart() -> None:
    """What opens at a click is read, each question as the heading of its answer."""
    body = "<html><body><h1>Questions</h1>" + "".join(
        f"<details><summary>{question}</summary><p>{answer}</p></details>"
        for question, answer in (("Who lit the lamp?", "The keeper lit it."), ("How high is it?", "It is 49 m high."))
    )
    assert [text for kind, text in blocks(body) if kind is BlockKind.PARAGRAPH] == [
        "The keeper lit it.",
        "It is 49 m high.",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "<p>The lamp of Fanal was lit in 1851.",
        "The lamp <b>of Fanal was lit</b> in 1851.",
        "<!-- saved --><div><p>The lamp of Fanal was lit in 1851.</p></div>",
    ],
)
def test_a_piece_of_html_is_a_page(body: str) -> None:
    """HTML without the frame of a page, as an editor saves it, is read."""
    assert blocks(body) == [(BlockKind.PARAGRAPH, "The lamp of Fanal was lit in 1851.")]


def test_few_characters_can_be_many_words() -> None:
    """A notice in Chinese is no empty page because it is short."""
    assert blocks("<html><body><p>周一到周五九点到十七点开放。</p>")[0][1] == "周一到周五九点到十七点开放。"


@pytest.mark.parametrize("top", ["Sign in", "Log in to Lamps", "Anmelden", "Iniciar sesión", "ログイン"])
def test_a_form_for_a_password_is_no_article(top: str) -> None:
    """A page that asks its readers to sign in is told, with what to do."""
    body = f"<html><head><title>{top}</title></head><body><form>Name <input>Word <input type=password></form>"
    with pytest.raises(SourceError) as caught:
        extract(body + "<p>Have you forgotten your password? Ask for another one.</p>")
    assert (caught.value.outcome, "signed in" in caught.value.next_step) == (Outcome.PAYWALLED, True)


@pytest.mark.parametrize("form", ['data-a{0}="x{0}"', "a{0}", "a{0}='x y'"])
def test_attributes_without_number(form: str) -> None:
    """An element with a hundred thousand attributes costs no more than its length, and its text is read."""
    attributes = " ".join(form.format(number) for number in range(100_000))
    found = blocks(f"<html><body><p id=lamp {attributes}>The lamp of Fanal was lit in 1851.</p></body></html>")
    assert found == [(BlockKind.PARAGRAPH, "The lamp of Fanal was lit in 1851.")]


@pytest.mark.parametrize(
    "body",
    [
        "<frameset cols='20%,*'><frame src=menu.html><frame src='../main.html'>"
        "<noframes>This page uses frames, and your browser does not show them.</noframes></frameset>",
        "<body><iframe src='about:blank'></iframe><iframe src='../main.html'></iframe></body>",
    ],
    ids=["frames", "inner frame"],
)
def test_a_frame_names_the_page_inside(body: str) -> None:
    """What stands in a frame has an address of its own, which is said."""
    with pytest.raises(SourceError) as caught:
        extract(f"<html><head><title>Lamps</title></head>{body}</html>", url="https://lamps.example/old/index.html")
    assert caught.value.next_step == "List https://lamps.example/main.html instead."


@pytest.mark.parametrize("tag", ["del", "s", "strike", "S"])
def test_words_struck_through_are_not_said(tag: str) -> None:
    """A former price is no price."""
    assert blocks(f"<html><body><p>The lamp of Fanal costs <{tag}>40</{tag}> 42 coins.</p>")[0][1] == (
        "The lamp of Fanal costs 42 coins."
    )


def test_a_short_article_is_not_replaced_by_the_menus_around_it() -> None:
    """Lists of links and headings of other articles are no structure that was lost."""
    menu = "<ul><li><a href='/a'>Training</a></li><li><a href='/b'>Health</a></li></ul>"
    more = "".join(f"<div><h3><a href='/{number}'>{number} things</a></h3></div>" for number in range(3))
    words = "Juniors and young riders display their skills during the phases of the final in October. "
    article = "".join(f"<p>{number}. {words * 2}</p>" for number in range(3))
    found = blocks(f"<html><body><div>{menu}</div><article>{article}</article>{more}</body></html>")
    assert [kind for kind, _ in found] == [BlockKind.PARAGRAPH] * 3


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 300 + "<p>The lamp of Fanal was lit in 1851, and the lamp of Ness in 1870.</p>",
        "".join(
            f"<p><font size=2>The lamp of Fanal was lit in the winter of the year {year}." for year in range(1400, 1871)
        ),
    ],
    ids=["boxes", "tags that nobody closed"],
)
def test_a_deeply_nested_page_is_read_to_its_end(body: str) -> None:
    """What stands deeper than a parser goes by itself is not lost."""
    assert "1870" in blocks(f"<html><body>{body}</body></html>")[-1][1]
