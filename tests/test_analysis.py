"""Notes on a source."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.compiling.analysis import Analysis, Section, Sentence, Table, decode, encode

_text = st.text(max_size=12)


@st.composite
def analyses(draw: st.DrawFn) -> Analysis:
    """Any notes."""
    return Analysis(
        source_id=draw(_text),
        title=draw(_text),
        subject=draw(_text),
        aliases=tuple(draw(st.lists(_text, max_size=2))),
        type="note",
        media="text",
        target=draw(_text),
        language="en",
        sections=(Section("", "", 1), Section(draw(_text), draw(_text), 2, draw(_text))),
        sentences=tuple(
            Sentence(text, "^p1", 1, 3, 0.5, True, False, False) for text in draw(st.lists(_text, max_size=3))
        ),
        tables=(Table(((draw(_text), "b"), ("c", "d")), "^p2", 0, 4),),
        lead=(0,),
        defines=True,
        tags=("a",),
        total=3,
        supported=1.0,
        quality=0.5,
        quality_reasons=("why",),
        injection_suspected=False,
    )


@settings(max_examples=40, deadline=None)
@given(analyses())
def test_round_trip(notes: Analysis) -> None:
    """Notes come back as they were written, and the same notes give the same bytes."""
    assert decode(encode(notes)) == notes
    assert encode(decode(encode(notes))) == encode(notes)


def test_notes_of_another_form_are_refused() -> None:
    """Notes that an other version wrote are not taken for these."""
    with pytest.raises(ValueError, match="another form"):
        decode(json.dumps({"form": 0}).encode())
