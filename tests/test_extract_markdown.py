"""The user's own notes as plain words under their headings."""

from __future__ import annotations

from tasks.extraction.markdown import extract
from tasks.records import BlockKind

NOTE = """---
title: My note
author:
  - "[[Ada Example]]"
tags: [a]
---
Intro with [[Zuse Z3|the machine]], ![[pic.png]]*emphasis*, `a_b*c*` and [link](http://x.y/a_(b)).

# Heading: one [[Z3]] #tag
> [!note]- Callout
> body **of** it

- [ ] task [[a#b]]
    - nested code_x
1. first
2. second

| a | b |
|---|:--|
| x\\|y | [[Q\\|q]] |

```python
# not a heading %%kept%%
```

Text[^1] end ^block1

## Sub
More.

[^1]: Footnote words.
"""


def test_words_and_anchors() -> None:
    """Marks go, words stay, and each part carries its nearest heading as Obsidian links to it."""
    found = extract(NOTE)
    assert (found.title, found.author) == ("My note", "Ada Example")
    assert [(part.kind.value, part.text, part.anchor) for part in found.parts] == [
        ("paragraph", "Intro with the machine, emphasis, a_b*c* and link.", ""),
        ("heading", "Heading: one Z3 #tag", "Heading one Z3 tag"),
        ("quote", "Callout\nbody of it", "Heading one Z3 tag"),
        ("list", "- task a > b\n    - nested code_x", "Heading one Z3 tag"),
        ("list", "1. first\n2. second", "Heading one Z3 tag"),
        ("table", "| a | b |\n| --- | --- |\n| x\\|y | q |", "Heading one Z3 tag"),
        ("code", "# not a heading %%kept%%", "Heading one Z3 tag"),
        ("paragraph", "Text end", "Heading one Z3 tag"),
        ("heading", "Sub", "Sub"),
        ("paragraph", "More.", "Sub"),
        ("footnote", "Footnote words.", "Sub"),
    ]


def test_anchors_are_headings_to_the_link_parser() -> None:
    """An anchor and the heading as written are the same to links."""
    from tasks.markdown.links import heading_key

    keys = {heading_key(line.lstrip("# ")) for line in NOTE.split("\n") if line.startswith("#")}
    assert all(heading_key(part.anchor) in keys for part in extract(NOTE).parts if part.anchor)


def test_comments_are_no_text() -> None:
    """Obsidian's and HTML comments are taken out and counted; in code they stay."""
    found = extract(
        "a %%secret%% b <!-- hidden order --> c\n\n```\n<!-- code -->\n```\n\n%%\nlong\n\ncomment\n%%\nend\n"
    )
    assert [part.text for part in found.parts] == ["a b c", "<!-- code -->", "end"]
    assert found.hidden_removed == 3 and "hidden order" in found.hidden_text


def test_clip_facts_come_from_its_properties() -> None:
    """A Web Clipper note gives the page's title, author and date; its properties are no text."""
    clip = '---\ntitle: "Page"\nsource: "https://example.org/a"\nauthor:\n  - "[[Grace]]"\n'
    clip += "published: 2020-01-02\n---\nBody.\n"
    found = extract(clip, clip=True)
    assert (found.title, found.author, found.published) == ("Page", "Grace", "2020-01-02")
    assert [part.text for part in found.parts] == ["Body."]


def test_a_leading_rule_that_is_no_property_block_stays() -> None:
    """A letterhead between rules is text."""
    found = extract("---\nACME Ltd\n1 High St\n---\nDear all\n")
    assert "ACME Ltd" in " ".join(part.text for part in found.parts)


def test_html_inside_a_note_is_reduced_to_words() -> None:
    """Tags go, their words stay; comparisons are no tags."""
    found = extract("Water is H<sub>2</sub>O, and 1 < 2 > 0.\n\n<div class='x'>Block <b>words</b></div>\n")
    assert [part.text for part in found.parts] == ["Water is H2O, and 1 < 2 > 0.", "Block words"]


def test_front_part_kinds() -> None:
    """An empty note has no parts."""
    assert extract("---\ntitle: x\n---\n").parts == ()
    assert [part.kind for part in extract("* * *\n\nx\n").parts] == [BlockKind.PARAGRAPH]
