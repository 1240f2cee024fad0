"""Addresses that a person lists: `sources.yaml` and the inbox note."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.records import SourceKind
from tasks.sources.source_list import read_inbox, read_list

LIST = """
# what I read
- https://ex.org/a
- url: https://ex.org/b
  title: "B: a title"
  kind: feed
- Konrad Zuse: https://ex.org/zuse
- Machines:
    - https://ex.org/z3
    - Relays:
        - url: https://ex.org/z2
- youtu.be/dQw4w9WgXcQ?si=1
- https://www.youtube.com/watch?v=dQw4w9WgXcQ
- https://ex.org/a?utm_source=x
"""


def test_list_of_addresses_entries_and_groups() -> None:
    """Plain addresses, maps and groups of any depth are read; one address is one entry."""
    listing = read_list(LIST.encode(), "s.yaml")
    found = {one.location.rsplit("/", 1)[1]: (one.kind, one.title) for one in listing.found}
    assert found == {
        "a": (SourceKind.WEB, ""),
        "b": (SourceKind.FEED, "B: a title"),
        "zuse": (SourceKind.WEB, "Konrad Zuse"),
        "z3": (SourceKind.WEB, ""),
        "z2": (SourceKind.WEB, ""),
        "watch?v=dQw4w9WgXcQ": (SourceKind.VIDEO, ""),
    }
    assert not listing.problems and listing.complete
    assert all(one.listed_in == "s.yaml" for one in listing.found)


@pytest.mark.parametrize(
    ("entry", "cause", "step"),
    [
        ("- nonsense here", "no web address", "https://"),
        ("- 12", "no web address", "https://"),
        ("- file:///etc/hosts", "not read by address", "sources folder"),
        ("- https://me:secret@ex.org/", "password", "without"),
        ("- title: x", "without url", "url:"),
        ("- url: [a, b]", "plain text", ""),
        ("- {url: 'https://ex.org/x', titel: y}", "unknown key 'titel'", "Did you mean title?"),
        ("- {url: 'https://ex.org/x', kind: book}", "unknown kind 'book'", "web, video and feed"),
        ("- {url: 'https://ex.org/x', kind: video}", "not the address of a YouTube video", ""),
        ("- *nowhere", "not valid YAML", "quotes"),
        ("- title: Rust: part 1", "not valid YAML", "quotes"),
        ("- 'open", "not valid YAML", "quotes"),
        ("-\thttps://ex.org/tab: x: y", "", ""),
    ],
)
def test_wrong_entry_is_reported_with_its_line_and_costs_nothing_else(entry: str, cause: str, step: str) -> None:
    """The entries before and after a wrong one are read."""
    listing = read_list(f"- https://ex.org/1\n- https://ex.org/2\n{entry}\n- https://ex.org/3\n".encode(), "s.yaml")
    places = {one.location.rsplit("/", 1)[1] for one in listing.found}
    assert {"1", "2"} <= places and ("3" in places or entry == "- 'open")
    problem = listing.problems[0]
    assert problem.line in {3, 4, 5} and cause in problem.cause and step in problem.next_step
    assert "secret" not in str(listing.problems)


def test_list_that_is_partly_unreadable_says_so() -> None:
    """Absence from a broken list proves nothing."""
    assert not read_list(b"- https://ex.org/1\n- a: b: c\n", "s").complete
    assert not read_list(b"- https://ex.org/\xff\n", "s").complete
    assert read_list(b"- nonsense\n", "s").complete


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]", "{}", "sources:\n", "-\n-\n", "---\n"])
def test_empty_lists(text: str) -> None:
    """A list that was only begun is no mistake, whatever it says about nothing."""
    assert read_list(text.encode(), "s").found == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_and_line_ends(encoding: str) -> None:
    """Lists saved on any system are read."""
    listing = read_list("- Bücher: https://ex.org/a\r\n- https://ex.org/b\r\n".encode(encoding), "s")
    assert [(one.location, one.title) for one in listing.found] == [
        ("https://ex.org/a", "Bücher"),
        ("https://ex.org/b", ""),
    ]


def test_lists_made_to_hurt() -> None:
    """Aliases that multiply and nesting without end are read once or reported."""
    names = "abcdefghij"
    bomb = "a: &a [https://ex.org/]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in itertools.pairwise(names)
    )
    started = time.process_time()
    assert len(read_list(bomb.encode(), "s").found) == 1
    for deep in ("[" * 100_000, "- " * 20_000, "a: {" * 20_000):
        assert read_list(deep.encode(), "s").problems
    assert time.process_time() - started < 5


INBOX = """---
source: https://no.org/property
---
Look at https://ex.org/bare, (https://ex.org/paren_(a)) and <https://ex.org/auto>! `https://no.org/code`
www.ex.org/www 参见https://ex.org/wide。

- Konrad Zuse – https://ex.org/zuse
- [ ] https://ex.org/todo
- [Plankalkül](https://ex.org/plan "tip")
  1. nested: https://ex.org/nested
- one https://ex.org/x two https://ex.org/y

%% https://no.org/comment %%
```
https://no.org/fence
```

    https://no.org/indented

![](https://youtu.be/dQw4w9WgXcQ) ![photo](https://no.org/photo.png) [mail](mailto:a@b.c) [[https://ex.org/brackets]]
<!-- https://no.org/html -->

| name | link |
| --- | --- |
| Z3 | https://ex.org/cell |

> quoted https://ex.org/quote_a_b?x=1&y=2

[ref][1] **https://ex.org/bold**

[1]: https://ex.org/ref
"""


def test_links_of_an_inbox_note() -> None:
    """Links in any form are found, none in code, comments, properties or pictures; titles stand beside them."""
    listing = read_inbox(INBOX.encode(), "inbox.md")
    found = {one.location.removeprefix("https://ex.org/"): one.title for one in listing.found}
    assert {place: title for place, title in found.items() if title} == {
        "zuse": "Konrad Zuse",
        "plan": "Plankalkül",
        "nested": "nested",
        "ref": "ref",
    }
    assert set(found) >= {
        "bare",
        "paren_(a)",
        "auto",
        "todo",
        "x",
        "y",
        "cell",
        "quote_a_b?x=1&y=2",
        "bold",
        "wide",
        "brackets",
    }
    assert {"https://www.ex.org/www", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"} <= set(found)
    assert not [place for place in found if place.startswith("https://no.org/")]
    assert not listing.problems


def test_problem_in_an_inbox_note_has_its_line() -> None:
    """A link that cannot be read is named with its line."""
    listing = read_inbox(b"first\n\nsecond\nhttps://me:secret@ex.org/\nhttps://ex.org/ok\n", "inbox.md")
    assert [problem.line for problem in listing.problems] == [4]
    assert [one.location for one in listing.found] == ["https://ex.org/ok"]


@pytest.mark.parametrize(
    "piece",
    ["- A title: https://example.org/page and *emph*\n", "www. *a _", "www. [", "http://x/)", "> www.", "` www. ",
     "<a www. ", "![[www.", "](http://x ", "http://x/" + "a" * 997, "%% www. ", "| www. |\n|---|\n", "\n\n- www. x\n  ",
     "http://[::"],
)  # fmt: skip
def test_long_notes_are_read_at_once(piece: str) -> None:
    """A note of a megabyte, an honest or a strange one, takes seconds at most."""
    size = 1_000_000 if piece.startswith("- A") else 250_000
    note = (piece * (size // len(piece) + 1))[:size]
    started = time.process_time()
    read_inbox(note.encode(), "inbox.md")
    assert time.process_time() - started < 8


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200) | st.text(alphabet="-:[]{}&*|>'\"#\n https/.exorg!%`<()", max_size=200).map(str.encode))
def test_any_bytes_are_read(data: bytes) -> None:
    """Whatever a file holds, reading it ends in addresses and problems."""
    for listing in (read_list(data, "s"), read_inbox(data, "s")):
        assert all(problem.line >= 0 and problem.cause for problem in listing.problems)
