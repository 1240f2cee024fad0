"""Replies of models that mean the right thing and do not write it quite so."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.llm.reply import UnusableReply, read_reply
from tasks.llm.wording import json_schema
from tasks.writing.replies import Analysed, Decided, Written


def test_null_single_things_capitals_and_numbers_are_understood() -> None:
    """They say the same as what was asked for."""
    loose = {
        "operations": {
            "op": " ADD", "block": None, "section": None, "kind": "Paragraph",
            "sentences": {"text": "It ran.", "cites": {"passage": 3, "words": "It ran."}},
        },
        "contradictions": None,
        "doubt": None,
    }  # fmt: skip
    close = {
        "operations": [
            {"op": "add", "sentences": [{"text": "It ran.", "cites": [{"passage": "3", "words": "It ran."}]}]}
        ]
    }
    assert read_reply(json.dumps(loose), Written) == read_reply(json.dumps(close), Written)


def test_a_wordy_remark_is_cut_and_what_is_written_never() -> None:
    """Reasons and lists of tags end at their greatest length; a subject or sentence beyond it is refused."""
    decided = {"subject": "Z3", "action": "Create", "reason": "r" * 900, "tags": [str(n) for n in range(20)]}
    told = read_reply(json.dumps({"decisions": [decided]}), Decided).decisions[0]
    assert (len(told.reason), len(told.tags)) == (500, 8)
    with pytest.raises(UnusableReply):
        read_reply(json.dumps({"decisions": [{**decided, "subject": "s" * 300}]}), Decided)
    with pytest.raises(UnusableReply):
        read_reply(json.dumps({"operations": [{"op": "add", "sentences": [{"text": "t" * 2000}]}]}), Written)


@pytest.mark.parametrize("missing", [{}, {"subjects": None, "claims": []}, {"subjects": [], "claims": "c1"}, [], 5])
def test_what_is_required_stays_required(missing: object) -> None:
    """Nothing is made up for it."""
    with pytest.raises(UnusableReply):
        read_reply(json.dumps(missing), Analysed)


JUNK = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["op", "decisions", "tags"]), inner),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(value=st.dictionaries(st.sampled_from(["operations", "decisions", "subjects", "claims", "doubt"]), JUNK))
def test_any_object_is_read_or_refused(value: dict[str, object]) -> None:
    """No reply escapes as another error."""
    for schema in (Analysed, Decided, Written):
        try:
            assert isinstance(read_reply(json.dumps(value), schema), schema)
        except UnusableReply as refused:
            assert str(refused)


def test_models_are_still_asked_for_the_exact_form() -> None:
    """What is understood besides is nobody's business, so known answers stay known."""
    assert '"enum":["add","replace","supersede","retire"]' in json.dumps(json_schema(Written), separators=(",", ":"))
