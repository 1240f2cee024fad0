"""The short way of reading a page of paragraphs, beside trafilatura's whole sequence."""

import pytest
import trafilatura
from lxml import etree
from trafilatura import external, xpaths

from tasks.extraction import html as extract_html
from tasks.extraction import html_tree, plain_article, whole_article

SENTENCE = "The machine that the engineers built in the cellar added two numbers in the time of a breath. "
PROSE = "".join(f"<p>{number}. {SENTENCE * 3}</p>" for number in range(8))


def page(inside: str) -> str:
    return f"<!doctype html><html><head><title>Machines</title></head><body>{inside}</body></html>"


def words(body: object) -> list[str]:
    return " ".join(body.itertext()).split()  # type: ignore[attr-defined]  # an lxml element


@pytest.mark.parametrize(
    "extra",
    [
        "",
        "<div class='comments'><p>What a fine text, thank you for all of it.</p></div>",
        "<nav><a href='/'>Home</a></nav>",
    ],
    ids=["prose", "comments", "navigation"],
)
def test_a_page_of_paragraphs_is_read_as_by_the_whole_sequence(extra: str) -> None:
    """The body is the one that trafilatura's defaults give."""
    text = page(f"<article><h1>Machines</h1>{PROSE}</article>{extra}")
    body = plain_article.body(html_tree.parse(text), text)
    whole = trafilatura.bare_extraction(text, include_comments=False)
    assert words(body) == words(whole.body)


def test_a_page_with_few_words_in_paragraphs_needs_a_closer_look() -> None:
    """Text in plain boxes is not for the short way."""
    text = page(f"<div>{SENTENCE * 20}</div>")
    assert plain_article.body(html_tree.parse(text), text) is None


def test_a_result_that_misses_most_paragraphs_needs_a_closer_look() -> None:
    """An article element that holds a small part of the page's paragraphs may be the wrong one."""
    text = page(f"<article><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p></article><section>{PROSE * 2}</section>")
    assert plain_article.body(html_tree.parse(text), text) is None


def test_what_a_closer_look_finds_is_kept() -> None:
    """A page of plain boxes still gives its text."""
    parts = extract_html.extract(page("".join(f"<div>{number} {SENTENCE * 5}</div>" for number in range(6)))).parts
    assert sum(SENTENCE.strip() in part.text for part in parts) == 6


def test_text_without_line_ends_and_with_control_characters_is_parsed() -> None:
    """Characters that XML forbids are dropped, also those that bytes spell in three."""
    tree = html_tree.parse(page("<p>one\x00\x0b two\uffff\ufffe three</p>"))
    assert tree.findtext(".//p") == "one two three"


def test_what_is_no_page_gives_no_tree() -> None:
    """A line of text is not HTML."""
    assert html_tree.parse("just a line") is None
    assert html_tree.parse("") is None


@pytest.mark.parametrize("name", ["BODY_XPATH", "OVERALL_DISCARD_XPATH", "REMOVE_COMMENTS_AND_LISTS_XPATH"])
def test_paths_that_pass_over_bare_elements_find_the_same(name: str) -> None:
    """Elements are found by class, id, role, style and place, as by the expressions that the library ships."""
    marks = ["", "class='share-box'", "id='main-nav'", "role='navigation'", "style='display:none'", "class='post'"]
    marks += ["class='article-body'", "id='comments'", "aria-hidden='true'", "data-lp-replacement-content=''"]
    boxes = "".join(f"<{tag} {mark}><p>a</p></{tag}>" for tag in ("div", "section", "main", "ul") for mark in marks)
    text = page(f"<main>{boxes}</main><article>b</article>")
    plain_article.body(html_tree.parse(text), text)
    tree = html_tree.parse(text)
    assert any(path(tree) for path in getattr(xpaths, name))
    for path in getattr(xpaths, name):
        shipped = etree.XPath(path.path.replace("[@*]", ""), namespaces={"re": xpaths.REGEXP_NS})
        assert path(tree) == shipped(tree)


def test_the_whole_sequence_gives_what_it_gives_alone() -> None:
    """Stop words that are loaded in one go change no result, where the last of the extractors has the say."""
    boxes = "".join(f"<div><span>{number}. {SENTENCE * 2}</span></div>" for number in range(12))
    text = page(f"<article><p>Short.</p></article>{boxes}")
    alone = trafilatura.bare_extraction(text, include_comments=False)
    assert words(whole_article.body(html_tree.parse(text), "")) == words(alone.body)


def test_stop_words_are_those_of_every_language() -> None:
    """Words of languages that stand far apart are known, in lower case."""
    whole_article.body(html_tree.parse(page("<div>little</div>")), "")
    external.jt_stoplist_init()
    assert {"the", "und", "это", "και"} <= set(external.JT_STOPLIST or ())
