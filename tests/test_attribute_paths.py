"""XPaths answered in Python beside what libxml2 answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from tasks.extraction.attribute_paths import translated

NAMESPACES = {"re": "http://exslt.org/regular-expressions"}
TAGS = ("div", "section", "p", "ul", "article", "span")
VALUES = ("", "post", "my post", "shared", "Nav", "main-nav", "comments", "reply-1", "Hidden", "a.b", "axb", "true")
PATHS = [
    ".//aside",
    ".//*[self::div or self::p][@hidden]",
    ".//*[self::div or self::section][@class='post' or @id='post']",
    ".//*[contains(@class, 'a.b') or starts-with(@id, 'reply-')]",
    ".//div[contains(translate(@role, 'N', 'n'), 'nav')]",
    ".//*[re:test(@id|@class, 'omment') or re:test(@class, '^hid', 'i')]",
    ".//*[self::ul or self::div][re:test(@class, 'share|post')][not(self::ul) or re:test(@id, '^p')]",
    ".//div[@class='post'][not(.//p)]",
]
attributes = st.dictionaries(st.sampled_from(["id", "class", "role", "hidden"]), st.sampled_from(VALUES), max_size=3)
elements = st.recursive(
    st.tuples(st.sampled_from(TAGS), attributes, st.just([])),
    lambda inner: st.tuples(st.sampled_from(TAGS), attributes, st.lists(inner, max_size=3)),
    max_leaves=8,
)


def xpath(path: str) -> etree.XPath:
    return etree.XPath(path, namespaces=NAMESPACES)


def grown(element: tuple) -> etree._Element:
    tag, attributes, inside = element
    root = etree.Element(tag, attributes)
    root.extend(map(grown, inside))
    return root


@pytest.mark.parametrize("path", PATHS)
@given(element=elements)
def test_a_translated_path_finds_what_the_path_finds(path: str, element: tuple) -> None:
    """The same elements come in the same order, never the one that the search begins at."""
    tree = grown(element)
    find = translated(xpath(path), NAMESPACES)
    assert not isinstance(find, etree.XPath)
    assert find(tree) == xpath(path)(tree)


@given(element=elements)
def test_one_place_means_the_first_of_the_page(element: tuple) -> None:
    """A path that ends with `[1]` gives one element, with and without brackets around it."""
    tree = grown(element)
    first = xpath("(.//*[self::div or self::p][@id='post'])[1]")
    for path in (first.path, first.path.strip("(").replace(")[1]", "[1]")):
        assert translated(xpath(path), NAMESPACES)(tree) == first(tree)


def test_alternatives_find_all_that_each_finds() -> None:
    """Elements of another name, and by another attribute, come together."""
    tree = html.fromstring("<main><footer id='f'></footer><aside></aside><div id='page-footer'></div></main>")
    path = xpath(".//aside|.//footer|.//div[contains(@class|@id, 'footer')]")
    assert set(translated(path, NAMESPACES)(tree)) == set(path(tree))


@pytest.mark.parametrize("path", ["//p[text()]", ".//div[p]", "(.//p)[1]|(.//div)[1]", ".//p[position() > 1]"])
def test_a_path_that_asks_of_more_stays_itself(path: str) -> None:
    """What is not about attributes alone is left to libxml2."""
    shipped = xpath(path)
    assert translated(shipped, NAMESPACES) is shipped


def test_of_two_attributes_that_which_stands_first_counts() -> None:
    """`@id|@class` means the one that the element states first, as in XPath."""
    tree = html.fromstring("<main><p class='x' id='cookie'></p><p id='cookie' class='x'></p></main>")
    path = xpath(".//*[re:test(@id|@class, 'cookie')]")
    assert translated(path, NAMESPACES)(tree) == path(tree) == [tree[1]]


def test_very_many_and_very_long_values_are_answered_too() -> None:
    """What is no longer remembered, or never was, is looked at anew."""
    marks = [f"{'post ' if number % 2 else ''}{'x' * (number % 300)}{number}" for number in range(9000)]
    tree = html.fromstring("".join(f"<p class='{mark}'></p>" for mark in marks))
    find = translated(xpath(".//p[contains(@class, 'post')]"), NAMESPACES)
    assert len(find(tree)) == len(find(tree)) == 4500
