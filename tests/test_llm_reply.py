"""What is taken out of a reply: the object that was asked for, or nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.llm.keys import NO_KEY, Key, find_key
from tasks.llm.reply import UnusableReply, read_reply, unwrapped
from tests.llm_backends import Facts

FACTS = st.builds(Facts, title=st.text(max_size=30), facts=st.lists(st.text(max_size=30), max_size=3))
TALK = st.text(st.characters(exclude_characters="{}<`~"), max_size=40)


@settings(max_examples=80, deadline=None)
@given(FACTS, TALK, TALK, st.sampled_from(["{}", "```json\n{}\n```", "~~~\n{}\n~~~", "<think>{{ no }}</think>{}"]))
def test_an_object_is_found_in_any_talk(facts: Facts, before: str, after: str, form: str) -> None:
    """Whatever is said around it, the object comes out as it was."""
    text = f"{before}\n{form.format(json.dumps(facts.model_dump()))}\n{after}"
    assert read_reply(text, Facts) == facts


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), st.text("{}[]\"':,`<think>/\n \\u", max_size=200)))
def test_any_text_is_an_object_or_unusable(text: str) -> None:
    """No text leads to another error, and taking wrappings off twice is taking them off once."""
    assert unwrapped(unwrapped(text)) == unwrapped(text)
    try:
        read_reply(text, Facts)
    except UnusableReply as reason:
        assert str(reason)


def test_a_broken_object_is_not_taken_for_a_part_of_it() -> None:
    """What begins as one object and breaks off yields nothing of its inside."""
    inner = '{"title": "inner", "facts": []}'
    for text in (f'{{"pages": [{inner}, {inner}', f'{{"title": "outer", "facts": ["a"], "more": {inner}'):
        with pytest.raises(UnusableReply):
            read_reply(text, Facts)


def test_a_page_in_a_fence_within_the_object_stays() -> None:
    """Fences and thoughts inside strings are content."""
    facts = Facts(title="```json\n{}\n```", facts=["<think>x</think>"])
    assert read_reply(json.dumps(facts.model_dump()), Facts) == facts


def test_a_key_comes_from_the_environment_first_then_from_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """A named variable replaces the usual ones; nothing found is no key."""
    import keyring
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 1.0

        def get_password(self, service: str, username: str) -> str | None:
            return "from-ring" if (service, username) == ("nightwiki", "openai") else None

        def set_password(self, service: str, username: str, password: str) -> None:
            """Nothing is kept."""

    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    try:
        assert find_key("openai", environ={"OPENAI_API_KEY": " k "}) == Key("k", "OPENAI_API_KEY")
        assert find_key("openai", "MINE", {"OPENAI_API_KEY": "k", "MINE": "m"}) == Key("m", "MINE")
        assert find_key("openai", environ={}) == Key("from-ring", "the keyring")
        assert find_key("google", environ={"GEMINI_API_KEY": "g"}).found == "GEMINI_API_KEY"
        assert find_key("anthropic", environ={}) == NO_KEY
    finally:
        keyring.set_keyring(before)


def test_a_key_does_not_show_itself() -> None:
    """Neither printed nor represented."""
    key = Key("secret-value", "X")
    assert "secret-value" not in f"{key} {key!r} {[key]}"
