"""Names of page files."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.pages.slugs import file_stem, fold, slugify

ODD = [
    "AC/DC: live?",
    "CON",
    "aux.md",
    "ends with dot.",
    "Draft [v2] #1 ^x | y",
    "..",
    ".hidden",
    " lead",
    "",
    "🌍",
    "com¹",
    "lpt5.txt",
    "a\\b",
    "x.png",
    "x.update",
    "50%% off",
    "`code`",
    "line\nbreak",
    "NUL.",
    "tab\there",
    "a\u200bb",
    "con.",
    "\u202etxt",
]


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("高效能人士", "高效能人士"),
        ("时间管理", "时间管理"),
        ("Гильдии", "гильдии"),
        ("Đại", "dai"),
        ("Ái", "ai"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("Ærø", "aeroe"),
        ("Moore's law", "moores-law"),
        ("C++", "c-plus-plus"),
        ("C# in depth", "c-sharp-in-depth"),
        ("Й и й", "й-и-й"),
        ("हिन्दी", "हिन्दी"),
        ("Crème brûlée", "creme-brulee"),
        ("Ｆｕｌｌ", "full"),
        ("CON", "con-page"),
        ("v0.13", "v0-13"),
        ("Ελλάδα", "ελλάδα"),
        ("が", "が"),
    ],
)
def test_slugs_are_readable_in_every_script(title: str, slug: str) -> None:
    """Latin letters lose accents without becoming other words, every other script stays as it is."""
    assert slugify(title) == unicodedata.normalize("NFC", slug)


@pytest.mark.parametrize("style", ["slug", "title"])
@pytest.mark.parametrize("title", ODD)
def test_odd_titles_make_names_that_every_system_takes(title: str, style: str) -> None:
    """No forbidden sign, reserved name, hidden file or trailing dot; nothing that Obsidian cannot link to."""
    check(file_stem(title, "identity", (), style))  # type: ignore[arg-type]


@given(st.text(max_size=120), st.sampled_from(["slug", "title"]))
def test_any_title_makes_a_good_name(title: str, style: str) -> None:
    """Whatever the title, the name is legal, linkable and at most 200 bytes with '.update.md' and all."""
    check(file_stem(title, "identity", (), style))  # type: ignore[arg-type]


def check(stem: str) -> None:
    """A name's rules, spelt out."""
    assert stem and stem == stem.strip(" .") and not set(stem) & set('[]#^|\\/:*?"<>`\0\n\r\t') and "%%" not in stem
    assert stem.split(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT5", "COM¹"}
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in stem)
    assert len(f"{stem}.update.md".encode()) <= 200 and unicodedata.normalize("NFC", stem) == stem


@pytest.mark.parametrize("title", ["a" * 300, "word " * 60, "時間管理" * 30, "e\u0301" * 120, "👨‍👩‍👧" * 40 + "x"])
def test_long_titles_are_cut_between_characters(title: str) -> None:
    """Long titles are cut whole characters at a time, and two that begin alike do not fall together."""
    for style in ("slug", "title"):
        one, two = (file_stem(title + end, end, (), style) for end in ("", " two"))  # type: ignore[arg-type]
        check(one)
        assert one != two and "\ufffd" not in one


def test_titles_that_fold_together_get_files_of_their_own() -> None:
    """A clash is settled by the page's identity, so that the order of arrival does not matter."""
    first = file_stem("Q3 Report", "id-1", ())
    second = file_stem("Q3-Report", "id-2", {fold(first)})
    third = file_stem("q3 report!", "id-3", {fold(first), fold(second)})
    assert len({first, second, third}) == 3
    assert third == file_stem("q3 report!", "id-3", {fold(first)})
    assert file_stem("Config", "id", {fold("CONFIG")}) != "config"
    assert file_stem("Q3: Report", "id-2", {fold("Q3 report")}, "title") != "Q3 Report"


@given(st.text(max_size=60), st.text(max_size=8))
def test_a_taken_name_is_never_given(title: str, identity: str) -> None:
    """However many names are taken, the given one is not among them, also when it had to be cut."""
    taken: set[str] = set()
    for style in ("slug", "title") * 3:
        stem = file_stem(title * 4, identity, taken, style)  # type: ignore[arg-type]
        check(stem)
        assert fold(stem) not in taken
        taken.add(fold(stem))


def test_slugs_of_slugs_stay() -> None:
    """A slug is its own slug, and names that one file system takes for one are equal when folded."""
    for title in [*ODD, "Łódź", "高效能人士", "हिन्दी"]:
        assert slugify(slugify(title)) == slugify(title)
    assert fold("Cafe\u0301 Straße") == fold("CAFÉ STRASSE")
