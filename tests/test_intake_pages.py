"""Web pages: formulas and raised digits in words, and servers that send a notice as if it were the page."""

from __future__ import annotations

import pytest

from config.errors import SourceError
from tasks.extraction.html import extract
from tasks.records import Outcome

FILLER = tuple(
    f"Lamp {number} burned whale oil until {1850 + number}, when keepers changed to kerosene, and its tower is high."
    for number in range(5)
)


def page(*paragraphs: str, title: str = "Lamps") -> str:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html><head><title>{title}</title></head><body><article><h1>Lamps</h1>{body}</article></body></html>"


def first(words: str) -> str:
    """The first paragraph of a page that begins with these words."""
    found = extract(page(f"{words} It stood on a bare rock in the bay.", *FILLER))
    return found.parts[1].text.removesuffix(" It stood on a bare rock in the bay.")


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ("Light has 3 × 10<sup>8</sup> m/s.", "Light has 3 × 10⁸ m/s."),
        ("It is 5 cm<sup>−2</sup>, on the 4<sup>th</sup> day.", "It is 5 cm⁻², on the 4th day."),
        ("So said Ives.<sup class=reference><a href=#n1>[<b>1</b>]</a></sup>", "So said Ives."),
        ("So said<sup><a href='#f'>2</a></sup> Ives.<sup>[citation needed]</sup>", "So said Ives."),
        ("Half is <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>.", "Half is 1/2."),
        ("It is <math><msup><mi>c</mi><mn>2</mn></msup></math>.", "It is c^2."),
        (
            "Energy is <span class=mwe-math-element><span style='display:none'>"
            "<math alttext='{\\displaystyle E=mc^{2}}'><mi>E</mi></math></span>"
            "<img alt='{\\displaystyle E=mc^{2}}'></span>.",
            "Energy is E=mc^{2}.",
        ),
        (
            "It is <span class=katex><span class=katex-mathml><math><semantics><mi>a</mi><annotation "
            "encoding='application/x-tex'>a^2</annotation></semantics></math></span>"
            "<span aria-hidden=true>a2</span></span>.",
            "It is a^2.",
        ),
    ],
    ids=["power", "units and ordinals", "note", "other notes", "fraction", "square", "encyclopedia", "KaTeX"],
)
def test_signs_by_place_are_spelt_out(shown: str, words: str) -> None:
    """A number keeps its power, a sentence its formula, once; marks of notes are no part of it."""
    assert first(shown) == words


@pytest.mark.parametrize(
    ("notice", "outcome"),
    [
        ("Sorry, the page you are looking for does not exist or was moved.", Outcome.NO_CONTENT),
        ("Cette page est introuvable. Retournez à l'accueil du site.", Outcome.NO_CONTENT),
        (
            "お探しのページが見つかりませんでした。ページが見つかりません。トップページにお戻りください。",
            Outcome.NO_CONTENT,
        ),
        ("We are down for scheduled maintenance and will be back soon.", Outcome.BLOCKED),
        ("Too many requests have come from your address. Please slow down.", Outcome.BLOCKED),
        ("This content is not available in your country. We are sorry.", Outcome.REFUSED),
        ("This domain is for sale! Inquire about it with our friendly broker.", Outcome.NO_CONTENT),
        ("Conteúdo exclusivo para assinantes. Assine para continuar lendo.", Outcome.PAYWALLED),
        ("Материал доступен только подписчикам. Оформите подписку, чтобы читать дальше.", Outcome.PAYWALLED),
        ("Artikeln är låst. Bli prenumerant för att läsa vidare.", Outcome.PAYWALLED),
    ],
)
def test_a_notice_is_not_taken_for_the_page(notice: str, outcome: Outcome) -> None:
    """Sent with status 200, it would take the place of what the page said before."""
    with pytest.raises(SourceError) as caught:
        extract(page(notice))
    assert caught.value.outcome == outcome


def test_an_article_about_such_notices_passes() -> None:
    """What is long enough to be an article is one."""
    words = "The error page says 404 Not Found, and the page you are looking for does not exist. "
    assert len(extract(page(words, *FILLER)).parts) > 4


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ("<div>Built<div>1831 by Corporal Ives</div></div>", "Built 1831 by Corporal Ives"),
        ("<div>Height<p>28 metres</p>Weight<p>5 tons</p></div>", "Height 28 metres Weight 5 tons"),
        (
            "<ul><li><div>Built</div><div>1831</div></li><li>Name<div>Gannet</div></li></ul>",
            "- Built 1831\n- Name Gannet",
        ),
        ("<ul><li><div>Bu<b>il</b>t</div></li><li>at sea</li></ul>", "- Built\n- at sea"),
        (
            "<table><tr><td>Crew</td><td><ul><li>Ives</li><li>Lee</li></ul></td></tr><tr><td>Sea</td><td>Bay</td></tr></table>",
            "| Crew | Ives; Lee |\n| --- | --- |\n| Sea | Bay |",
        ),
    ],
    ids=["div in div", "text between", "blocks in items", "letters stay together", "list in a cell"],
)
def test_edges_of_blocks_part_words(shown: str, words: str) -> None:
    """Cards and boxes of a page keep their words apart, and a table's cell its list."""
    assert words in [part.text for part in extract(page(*FILLER).replace("</article>", f"{shown}</article>")).parts]


def test_a_page_laid_out_with_tables_has_paragraphs() -> None:
    """Before style sheets an article stood in a table's cell; a table of data beside it stays one."""
    data = "<table><tr><td>Built</td><td>1831</td></tr><tr><td>Height</td><td>28 m</td></tr></table>"
    article = "".join(f"<p>{paragraph} {paragraph}</p>" for paragraph in FILLER)
    body = f"<table><tr><td><a href=/>Home</a></td><td>{article}{data}<p>It went out in 1996.</p></td></tr></table>"
    found = [part.text for part in extract(f"<html><body>{body}</body></html>").parts]
    assert found == [
        *(f"{paragraph} {paragraph}" for paragraph in FILLER),
        "| Built | 1831 |\n| --- | --- |\n| Height | 28 m |",
        "It went out in 1996.",
    ]


def test_a_page_that_is_a_plain_text_has_its_paragraphs() -> None:
    """Standards and letters stand between two tags; a listing of a program is still code."""
    letter = "\n\n".join((*FILLER, "1. oil\n2. kerosene"))
    found = extract(f"<html><head><title>On lamps</title></head><body><pre>{letter}</pre></body></html>")
    assert [part.text for part in found.parts] == [*FILLER, "1. oil\n2. kerosene"] and found.title == "On lamps"
    listing = "\n".join(f"lamp_{number} = burn({number})" for number in range(40))
    shown = page(*FILLER).replace("</article>", f"<pre><code>{listing}</code></pre></article>")
    assert listing in [part.text for part in extract(shown).parts]


@pytest.mark.parametrize(
    ("box", "read"),
    [
        ("<div>The keeper of <b>Fanal</b> climbs two hundred steps every night.</div>", True),
        ("<div><a href=/more>Read more about lamps, oil and the keepers of towers.</a></div>", False),
        ("<div>Share this page</div>", False),
    ],
    ids=["sentence", "links", "buttons"],
)
def test_a_box_among_paragraphs_is_one_of_them(box: str, read: bool) -> None:
    """Some editors write every other paragraph as a box; boxes of links are none."""
    found = extract(page(*FILLER[:2]).replace("</article>", f"{box}<p>{FILLER[2]}</p><p>{FILLER[3]}</p></article>"))
    assert any("two hundred steps" in part.text or "more" in part.text for part in found.parts) == read
    assert found.parts[-1].text == FILLER[3]


@pytest.mark.parametrize(
    "head",
    ["<html xmlns:st1='urn:schemas-microsoft-com:office:smarttags'>", "<html>"],
    ids=["announced", "not announced"],
)
def test_elements_by_names_of_a_programs_own_are_running_text(head: str) -> None:
    """Word marks places and empty lines with names of its own, and broken tags have any: their words are read."""
    body = "".join(f"<p>{filler}</p>" for filler in FILLER)
    quoted = f"<blockquote>In <st1:City>Paris</st1:City> it was said: {FILLER[0]}</blockquote>"
    odd = f"{quoted}<ul><li><o:p>Oil</o:p> burns.</ul>"
    texts = [
        part.text
        for part in extract(f"{head}<body><article>{body}{odd}<p>{FILLER[1]}</p></article></body></html>").parts
    ]
    assert f"In Paris it was said: {FILLER[0]}" in texts and "- Oil burns." in texts
