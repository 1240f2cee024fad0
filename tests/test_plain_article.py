"""The short way of reading a page of paragraphs, beside trafilatura's whole sequence."""

from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace

import pytest
import trafilatura
from justext import core
from lxml import etree
from trafilatura import external, xpaths

from tasks.extraction import html as extract_html
from tasks.extraction import html_tree, plain_article, whole_article

SENTENCE = "The machine that the engineers built in the cellar added two numbers in the time of a breath. "
PROSE = "".join(f"<p>{number}. {SENTENCE * 3}</p>" for number in range(8))


def page(inside: str) -> str:
    return f"<!doctype html><html><head><title>Machines</title></head><body>{inside}</body></html>"


def read(text: str) -> plain_article.Article:
    found = plain_article.article(html_tree.parse(text), text)
    assert found is not None
    return found


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
    found = read(text)
    whole = trafilatura.bare_extraction(text, include_comments=False)
    assert words(found.body) == words(whole.body)
    assert not found.doubtful


def test_a_page_with_few_words_in_paragraphs_needs_a_closer_look() -> None:
    """Text in plain boxes is not for the short way."""
    text = page(f"<div>{SENTENCE * 20}</div>")
    assert read(text).doubtful


def test_a_result_that_misses_most_paragraphs_needs_a_closer_look() -> None:
    """An article element that holds a small part of the page's paragraphs may be the wrong one."""
    text = page(f"<article><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p></article><section>{PROSE * 2}</section>")
    assert read(text).doubtful


def test_what_stands_twice_in_a_row_is_read_once() -> None:
    """A paragraph of some length is not repeated; short ones, as in dialogues, are."""
    text = page(f"<article><p>{SENTENCE * 3}</p><p>{SENTENCE * 3}</p><p>No!</p><p>No!</p>{PROSE}</article>")
    found = [" ".join(element.itertext()) for element in read(text).body]
    assert (found.count((SENTENCE * 3).strip()), found.count("No!")) == (1, 2)


def test_the_page_stays_as_it_was() -> None:
    """A closer look finds the page whole."""
    text = page(f"<article>{PROSE}<script>1</script></article><div class='comments'><p>{SENTENCE}</p></div>")
    tree = html_tree.parse(text)
    before = etree.tostring(tree)
    plain_article.article(tree, text)
    assert etree.tostring(tree) == before


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


NAMES = ["BODY_XPATH", "OVERALL_DISCARD_XPATH", "TEASER_DISCARD_XPATH", "DISCARD_IMAGE_ELEMENTS"]
NAMES += ["RAW_TREE_PRUNE_XPATH", "REMOVE_COMMENTS_AND_LISTS_XPATH"]


@pytest.mark.parametrize("name", NAMES)
def test_paths_that_a_walk_answers_find_the_same(name: str) -> None:
    """Elements are found by class, id, role, style and place, as by the expressions that the library ships."""
    marks = ["", "class='share-box'", "id='main-nav'", "role='navigation'", "style='display:none'", "class='post'"]
    marks += ["class='article-body'", "id='comments'", "aria-hidden='true'", "data-lp-replacement-content=''"]
    marks += ["id='Teaser'", "class='caption'", "class='infinite-scroll'", "id='story'", "class='Page-content'"]
    boxes = "".join(f"<{tag} {mark}><p>a</p></{tag}>" for tag in ("div", "section", "main", "ul") for mark in marks)
    text = page(f"<main>{boxes}</main><article>b</article>")
    tree = html_tree.parse(text)
    plain_article.article(tree, text)
    shipped, used = getattr(fresh("trafilatura.xpaths"), name), getattr(xpaths, name)
    found = [path(tree) for path in used]
    assert any(found)
    assert sum(isinstance(path, etree.XPath) for path in used) <= (name == "BODY_XPATH")
    # of frames for the text only the first is asked for
    assert [elements[: 1 if name == "BODY_XPATH" else None] for elements in found] == [
        path(tree)[: 1 if name == "BODY_XPATH" else None] for path in shipped
    ]


def fresh(name: str) -> ModuleType:
    """A module as it is shipped, beside the one in use."""
    spec = find_spec(name)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_whole_sequence_gives_what_it_gives_alone() -> None:
    """Stop words that are loaded in one go change no result, where the last of the extractors has the say."""
    boxes = "".join(f"<div><span>{number}. {SENTENCE * 2}</span></div>" for number in range(12))
    text = page(f"<article><p>Short.</p></article>{boxes}")
    alone = trafilatura.bare_extraction(text, include_comments=False)
    assert words(whole_article.body(html_tree.parse(text), None)) == words(alone.body)


SHORT = f"<article><h1>Machines</h1><p>{SENTENCE * 4}</p></article>"
DOUBTFUL = [
    f"{SHORT}<section>{PROSE * 3}</section>",
    f"{SHORT}<div>{SENTENCE * 4}</div>",
    f"<div>{SENTENCE * 20}</div>",
    f"<article><table><tr><td>{SENTENCE * 4}</td><td>2</td></tr></table></article>{PROSE}",
    f"<article><p>{SENTENCE * 3}</p></article>" + "<div><span>A short line of the page.</span></div>" * 300,
]


@pytest.mark.parametrize("inside", DOUBTFUL, ids=["part", "boxes", "no paragraph", "table", "long page"])
def test_a_doubtful_answer_is_kept_where_the_whole_sequence_keeps_it(inside: str) -> None:
    """What the first extractor found changes no result: it saves asking it again."""
    text = page(inside)
    tree, first = html_tree.parse(text), read(text)
    assert first.doubtful
    assert words(whole_article.body(tree, first)) == words(whole_article.body(tree, None))


def test_an_answer_that_stays_is_given_without_the_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first extractor is asked once for a page that the others have nothing to add to."""
    text = page(DOUBTFUL[1])
    first = read(text)
    monkeypatch.setattr("trafilatura.core.trafilatura_sequence", None)
    assert whole_article.body(html_tree.parse(text), first) is first.body


def test_stop_words_are_those_of_every_language() -> None:
    """Words of languages that stand far apart are known, in lower case."""
    whole_article.body(html_tree.parse(page("<div>little</div>")), None)
    external.jt_stoplist_init()
    assert {"the", "und", "это", "και"} <= set(external.JT_STOPLIST or ())


def test_very_many_short_lines_are_judged_by_those_near_them() -> None:
    """The search for a neighbour ends after a thousand lines, and in time; one near by is found as before."""
    near = [justext_line("short")] * 900 + [justext_line("good")]
    whole_article.body(html_tree.parse(page("<div>little</div>")), None)
    assert core.get_next_neighbour(0, near, ignore_neargood=True) == "good"
    assert core.get_prev_neighbour(900, near[::-1], ignore_neargood=True) == "good"
    far = [justext_line("good"), *[justext_line("short")] * 5000, justext_line("good")]
    assert core.get_next_neighbour(1, far, ignore_neargood=True) == "bad"
    assert core.get_prev_neighbour(5000, far, ignore_neargood=True) == "bad"


def justext_line(kind: str) -> SimpleNamespace:
    return SimpleNamespace(class_type=kind)
