"""Records to Arrow and back."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import StateError
from storage.tables import TABLES, conform, from_table, schema, to_table
from tasks.records import BlockKind, BlockRecord, Citation, Owner, PageRecord

st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_record_survives_the_round_trip(name: str, data: st.DataObject) -> None:
    """What is stored of any table is what was given, in its order."""
    rows = tuple(data.draw(st.lists(st.from_type(TABLES[name]), max_size=6)))
    assert from_table(to_table(rows, TABLES[name]), TABLES[name]) == rows


@dataclass(frozen=True, slots=True)
class Inner:
    key: str


@dataclass(frozen=True, slots=True)
class InnerNow:
    key: str
    weight: float = 1.5


@dataclass(frozen=True, slots=True)
class Before:
    id: str
    parts: tuple[Inner, ...]
    maybe: str | None


@dataclass(frozen=True, slots=True)
class Now:
    id: str
    parts: tuple[InnerNow, ...]
    maybe: str | None
    count: int = 7
    names: tuple[str, ...] = ("a",)


@dataclass(frozen=True, slots=True)
class Demanding:
    id: str
    needed: str


def test_a_field_added_later_takes_its_default_from_old_rows() -> None:
    """Old files stay readable when records grow, also deep inside."""
    old = to_table([Before("x", (Inner("k"),), None)], Before)
    assert from_table(old, Now) == (Now("x", (InnerNow("k", 1.5),), None, 7, ("a",)),)
    assert conform(old, Now).schema == schema(Now)


def test_a_missing_column_without_default_is_a_clear_error() -> None:
    """Rows of a foreign version are refused by name."""
    with pytest.raises(StateError, match="needed"):
        from_table(pa.table({"id": ["x"]}), Demanding)


def test_a_filtered_and_sliced_table_decodes_right() -> None:
    """Offsets of nested lists are honoured in slices."""
    rows = [Before(str(n), tuple(Inner(f"{n}-{k}") for k in range(n)), str(n)) for n in range(6)]
    assert from_table(to_table(rows, Before).slice(2, 3), Before) == tuple(rows[2:5])


def page(number: int) -> PageRecord:
    blocks = tuple(BlockRecord(f"b{n}", BlockKind.PARAGRAPH, "0" * 64, Owner.PIPELINE, "0" * 64) for n in range(15))
    cited = tuple(Citation("s", "evidence/a.md", f"^p{n}", "words " * 10, "nw-00000000") for n in range(5))
    return PageRecord(
        f"{number:08x}",
        f"wiki/p{number}.md",
        f"p{number}",
        f"Page {number}",
        False,
        "0" * 64,
        "text " * 400,
        blocks=blocks,
        citations=cited,
    )


@given(
    st.lists(st.text(st.characters(exclude_categories=()) | st.sampled_from("\udc80\udce9\udcff\U0010fe7f\U0010fe80a")))
)
def test_text_that_is_not_utf8_comes_back_as_it_was(titles: list[str]) -> None:
    """Bytes of a person's file that are no characters survive, and so do the characters that stand in for them."""
    told = [title for title in titles if not any("\ud800" <= c <= "\udc7f" or "\udd00" <= c <= "\udfff" for c in title)]
    rows = tuple(
        PageRecord(str(n), "a.md", "a", title, False, "", title, tags=(title,)) for n, title in enumerate(told)
    )
    assert from_table(to_table(rows, PageRecord), PageRecord) == rows
