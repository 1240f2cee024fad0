"""Elements that nobody sees, by style attributes and by style sheets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction import hidden_html, html_tree

PIECES = [
    "visibility", "font-size", "opacity", "text-indent", "left", "margin-left", "clip", "clip-path", "transform",
    "color", "hidden", "collapse", "0", "1", ".05", "px", "%", "-9999", "rect(", "0 0 0 0", "inset(50%", "scale(",
    ")", "transparent", "!important", ":", ";", " ", "\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_what_the_closer_look_hides_is_looked_at(style: str) -> None:
    """The quick search passes over no style that hides."""
    if hidden_html._NOTHING.search(style):
        assert hidden_html._shows_nothing(style)


@pytest.mark.parametrize(
    ("rule", "hides"),
    [
        (".a{visibility:hidden}", True),
        (".x,\n.a , #b{ Display : None }", True),
        ("#a{font-size:0px;}", True),
        (".a{font-size:12px}", False),
        (".a{left:-5px}", False),
        (".a .b{display:none}", False),
        ("@media print{.a{display:none}}", False),
        (".a{visibility:visible}", False),
    ],
)
def test_a_plain_rule_hides_whatever_has_its_class_or_id(rule: str, hides: bool) -> None:
    """Among several classes too, and never the body."""
    page = f"<html class='a'><head><style>{rule}</style></head><body class='a'><p class='z a'>One</p><p id='a'>Two</p>"
    tree = html_tree.parse(page + "<p class='ab'>Three</p></body></html>")
    hidden = hidden_html.remove(tree, "")
    assert (hidden.text in ("One", "Two"), hidden.removed) == (hides, int(hides))
    assert "Three" in tree.text_content()


def test_very_many_hidden_classes_are_looked_for() -> None:
    """A sheet of a thousand rules hides what it says and nothing else."""
    rules = "".join(f".h{number}{{display:none}}" for number in range(1000))
    boxes = "".join(f"<p class='h{number}'>gone</p><p class='k{number}'>kept</p>" for number in range(0, 1000, 50))
    tree = html_tree.parse(f"<html><head><style>{rules}</style></head><body>{boxes}</body></html>")
    assert hidden_html.remove(tree, "").removed == 20
    assert "".join(tree.find("body").itertext()).count("kept") == 20
