"""Reading and editing the properties of a note without touching what was not asked for."""

from __future__ import annotations

import io
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tasks.markdown import properties
from tasks.markdown.properties import Plain, edit, read

HARD = [
    "Rust: part 1 : traits",
    'He said "no"',
    "#1 pick",
    "- dash",
    "@x",
    "{a}",
    "Yes",
    "2024",
    "Hi 🌍 é",
    "[[Alpha]]",
    "",
    " lead",
    "trail ",
    "null",
    "~",
    "1.10",
    "0x1F",
    "1e3",
    "12:30",
    "2022-12-06",
    "a: b",
    "a #b",
    "a:",
    "?",
    "!tag",
    "&a",
    "*a",
    "%x",
    "`x`",
    "on",
    "y",
    "=",
    "<<",
    ".inf",
    "line\nbreak",
    "tab\tx",
    "nel\x85x",
    "ls\u2028x",
    "\ufeffx",
    "back\\slash",
    "'",
    "a, b",
    "---",
    "|",
    ">",
    "_1",
    "1_0",
]
SAMPLE = "---\nzeta: 1\n# note\nalpha: NO # why\nver: 1.10\nzip: 01234\nat: 12:30\n"
SAMPLE += "when: 2022-12-06T09:05:28-06:00\n---\n\n\nbody\n"


def same_everywhere(text: str, key: str) -> object:
    """The value as the YAML 1.1 and the YAML 1.2 reader see it, which must agree."""
    block = text.removeprefix("\ufeff").split("---", 1)[1].rsplit("---", 1)[0]
    ruamel = pytest.importorskip("ruamel.yaml")
    newer = ruamel.YAML(typ="safe", pure=True)
    older = yaml.safe_load(block)[key]
    assert newer.load(io.StringIO(block))[key] == older
    return older


def test_values_are_read_as_they_are_written() -> None:
    """What looks like a number, a truth or a time stays the string that stands there."""
    assert read(SAMPLE).values == {
        "zeta": "1",
        "alpha": "NO",
        "ver": "1.10",
        "zip": "01234",
        "at": "12:30",
        "when": "2022-12-06T09:05:28-06:00",
    }
    assert read(SAMPLE).body == "\n\nbody\n" and SAMPLE[read(SAMPLE).start :] == "\n\nbody\n"


def test_an_edit_changes_its_line_only() -> None:
    """Order, comments, spelling and the blank lines of the body survive the change of one value."""
    assert edit(SAMPLE, {"alpha": "YES"}) == SAMPLE.replace("alpha: NO # why", 'alpha: "YES" # why')
    assert edit(SAMPLE, {"alpha": "NO", "ver": "1.10"}) == SAMPLE
    assert edit(SAMPLE, {}, ["at"]) == SAMPLE.replace("at: 12:30\n", "")
    assert edit(SAMPLE, {"new": ["a"]}) == SAMPLE.replace("06:00\n---", "06:00\nnew:\n  - a\n---")


@pytest.mark.parametrize("value", HARD)
def test_any_string_is_written_so_that_all_readers_agree(value: str) -> None:
    """Strings with signs, or that look like something else, come back as themselves in YAML 1.1 and 1.2."""
    text = edit("body", {"title": value, "list": [value, "x"]})
    assert read(text).values == {"title": value or "", "list": [value or "", "x"]} and read(text).body == "body"
    if value != "\ufeffx":  # a byte-order mark inside a string is an error to one of the two readers
        assert same_everywhere(text, "title") == value and same_everywhere(text, "list") == [value, "x"]
    assert "🌍" not in value or "Hi 🌍 é" in text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.sampled_from(["\n", "\r\n"]))
def test_any_text_survives_as_a_value(value: str, newline: str) -> None:
    """Whatever is written is read back, by the common YAML reader too."""
    text = edit(f"---{newline}a: 1{newline}---{newline}b", {"title": value, "items": [value]})
    assert read(text).values == {"a": "1", "title": value, "items": [value]}
    assert (
        yaml.safe_load(text.split("---")[1] if "---" not in value else re.split(r"^---\s*$", text, flags=re.M)[1])[
            "title"
        ]
        == value
    )
    assert "\r\n" not in text if newline == "\n" else not re.search(r"(?<!\r)\n", text)


VALUES = st.one_of(st.sampled_from(HARD), st.lists(st.sampled_from(HARD), max_size=3), st.booleans())
ROWS = st.sampled_from(
    [
        "k0: plain # c\n",
        "k1: 'it''s'\n",
        'k2: "q\\n"\n',
        "k3:\n",
        "k4:\n  - a\n  - b # c\n\n",
        "k5: [a, 'b, c']\n",
        "k6: |\n  text\n\n  more\n",
        "k7: >-\n  folded\n  text\n",
        "k8: {a: 1}\n",
        "k9:\n  nested:\n    deep: [1]\n  other: 2\n",
        "k10:\n- x\n- y\n",
        "# comment\n",
        "\n",
        "'k 11': x\n",
        "k12: a\n  b\n",
        "k13: [a,\n  b]  # c\n",
        'k14: "multi\n  line"\n',
        "k15 : spaced\n",
        "k16: &a x\n",
        "k17: [[Alpha, Beta]]\n",
    ]
)


@given(
    st.lists(ROWS, unique=True, max_size=8),
    st.dictionaries(st.sampled_from([f"k{n}" for n in range(20)]), VALUES, max_size=3),
    st.lists(st.sampled_from([f"k{n}" for n in range(20)]), max_size=2),
    st.sampled_from(["\n", "\r\n"]),
)
def test_edits_do_what_was_asked_and_nothing_else(
    rows: list[str], change: dict[str, properties.Value], remove: list[str], newline: str
) -> None:
    """Set keys have their values, removed ones are gone, every other line stands as it stood."""
    text = "".join(["---\n", *rows, "---\nbody"]).replace("\n", newline)
    old, new = read(text), read(edit(text, change, remove))
    assert old.problem == "" and new.problem == "" and new.body == "body"
    wanted = {k: properties.comparable(v) for k, v in old.values.items() if k not in remove}
    wanted |= {k: properties.comparable(v) for k, v in change.items() if k not in remove}
    assert {k: properties.comparable(v) for k, v in new.values.items()} == wanted
    edited = edit(text, change, remove)
    for row in rows:
        key = row.partition(":")[0].strip()
        if key not in change and key not in remove and row != "\n":
            assert row.rstrip("\n").replace("\n", newline) in edited


@given(st.lists(ROWS, unique=True, max_size=8), st.dictionaries(st.sampled_from(["n1", "n2"]), VALUES))
def test_adding_and_removing_gives_the_old_bytes(rows: list[str], added: dict[str, properties.Value]) -> None:
    """Properties that are added and taken off again leave no trace."""
    text = "".join(["---\n", *rows, "---\nbody"])
    assert edit(edit(text, added), {}, list(added)) == text


def test_a_byte_order_mark_is_kept_and_read_over() -> None:
    """A file with a byte-order mark has its properties, and keeps the mark when they change."""
    assert read("\ufeff---\ntitle: A\n---\nx").values == {"title": "A"}
    assert edit("\ufeff---\ntitle: A\n---\nx", {"title": "B"}) == "\ufeff---\ntitle: B\n---\nx"
    assert edit("\ufeffx", {"title": "B"}) == "\ufeff---\ntitle: B\n---\nx" and read("\ufeffx").body == "x"


@pytest.mark.parametrize(
    "text",
    [
        "---\nACME Ltd\n1 High St\n---\nDear all",
        "---\n- a\n---\nx",
        "---\n{a: b}\n---\nx",
        "---\njust text\n---\n",
        "---\na: b\nno end\n",
        "---\n? [a]\n: b\n---\n",
    ],
)
def test_what_is_not_properties_is_left_alone(text: str) -> None:
    """A letterhead between rules, a list, a block without end: all of it is body, and nothing is written into it."""
    assert properties.LEFT_ALONE in read(text).problem and read(text).body == text and read(text).start == 0
    assert edit(text, {"title": "x"}, ["a"]) == text


@pytest.mark.parametrize(
    ("text", "line", "values"),
    [
        (
            "---\nok: 1\ntitle: Rust: part 1 : traits\nb: c\n---\nbody",
            3,
            {"ok": "1", "title": "Rust: part 1 : traits", "b": "c"},
        ),
        ("---\ntitle: A\n\tb: c\n---\nbody", 3, {"title": "A\n\tb: c"}),
        ("---\na: [x\nb: c\n---\nbody", 3, {"a": "[x", "b": "c"}),
        ("---\na: 1\na: 2\n---\nbody", 3, {"a": "2"}),
    ],
)
def test_a_broken_line_costs_only_itself(text: str, line: int, values: dict[str, object]) -> None:
    """The line is named, the other keys and the body are read, and the block is not written into."""
    found = read(text)
    assert found.body == "body" and found.line == line and found.problem
    assert {key: str(value).strip() for key, value in found.values.items()} == values


def test_unusual_fences() -> None:
    """Spaces behind the fences, an empty block and a rule that opens a text are told apart."""
    assert read("--- \ntitle: A\n---\t\nx").values == {"title": "A"} and read("---\n---\nx").body == "x"
    assert read("---\n\ntext").problem == "" and read("---").body == "---" and read("").body == ""
    assert read("----\na: b\n---\n").values == {} and read(" ---\na: b\n---\n").values == {}
    assert (
        edit("---\n---\nx", {"a": "b"}) == "---\na: b\n---\nx"
        and edit("---\ntext", {"a": "b"}) == "---\na: b\n---\n---\ntext"
    )


def test_dates_and_checkboxes_are_written_bare() -> None:
    """Obsidian's date and checkbox properties need no quotes."""
    text = edit("", {"created": Plain("2026-11-30"), "promote": False})
    assert text == "---\ncreated: 2026-11-30\npromote: false\n---\n"
    assert read(edit(text, {"promote": True})).values["promote"] == "true"


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("tags: one, two", ("one", "two")),
        ("tags: one two", ("one", "two")),
        ("tags:", ()),
        ("tags: [a, A, '#b/c']", ("a", "b/c")),
        ("tags:\n- #a/b\n- machine learning\n- 2024\n- C++", ("machine learning", "2024", "C++")),
        ("tag: x", ("x",)),
        ("tags: {a: b}", ()),
    ],
)
def test_tags_of_every_shape_are_read(text: str, tags: tuple[str, ...]) -> None:
    """One string, a list, nothing, or something odd: never an error."""
    assert properties.tags(read(f"---\n{text}\n---\n").values) == tags


def test_written_tags_and_aliases_are_in_obsidian_s_form() -> None:
    """No '#', no spaces, not digits alone, no doubles; no alias that is the file's own name."""
    assert properties.normal_tags(
        ["#a/b", "machine learning", "2024", "C++", "A/B", "", "---", "x/", "naïve", "機械学習"]
    ) == (
        "a/b",
        "machine-learning",
        "y2024",
        "Cplusplus",
        "x",
        "naïve",
        "機械学習",
    )
    assert properties.normal_aliases(["Z3", " The  Z3 ", "the z3", ""], "z3") == ("The Z3",)
    assert properties.aliases(read("---\naliases:\n---\n").values) == ()
    assert properties.aliases(read("---\naliases: a, b\n---\n").values) == ("a", "b")


def test_large_and_hostile_blocks_are_refused_quickly() -> None:
    """Nested references that would grow without end are a problem, not a hang."""
    rows = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    assert read("---\n" + "\n".join(rows) + "\n---\nx").problem
    assert read("---\na: &a [*a]\n---\nx").problem


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a:\n# mine\n  - x\nb: 1\n", "a:\n  - z\n# mine\nb: 1\n"),
        ("a:\n  # mine\n  - x # too\nb: 1\n", "a:\n  - z\n  # mine\n# too\nb: 1\n"),
        ("a: [x] # mine\nb: 1\n", "a:\n  - z\n# mine\nb: 1\n"),
        ("a: |\n  # x\n  z\nb: 1\n", "a:\n  - z\nb: 1\n"),
        ("a: ['# x', \"# y\"]\nb: 1\n", "a:\n  - z\nb: 1\n"),
        ("a: # mine\r\n  - x\r\nb: 1\r\n", "a:\r\n  - z\r\n# mine\r\nb: 1\r\n"),
    ],
)
def test_a_person_s_comments_outlive_the_value_they_stand_in(before: str, after: str) -> None:
    """Another list is written where theirs was; the comments follow it."""
    fence = "---\r\n" if "\r" in before else "---\n"
    assert properties.edit(fence + before + fence, {"a": ("z",)}) == fence + after + fence


def test_a_removed_value_leaves_comments_on_lines_of_their_own() -> None:
    """One behind its words speaks of them, and goes with them."""
    text = "---\na:\n  - x # on x\n  # mine\n  - y\nb: 1 # on b\n---\n"
    assert properties.edit(text, {}, ["a", "b"]) == "---\n  # mine\n---\n"
