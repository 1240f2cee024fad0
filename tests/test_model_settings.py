"""How a language model is set, and that a key has no place in the settings."""

from __future__ import annotations

import pytest

from config.errors import SettingsError
from config.load import parse_settings
from config.secrets import holds_key, redact
from tests.keys import FAKE_KEYS


@pytest.mark.parametrize("text", [
    "model: anthropic:claude-haiku-4-5\n",
    "model: claude\n",
    "model: opencode:anthropic/claude-sonnet-4-5\n",
    "model: openai-compatible:qwen3\nendpoint:\n  base_url: http://127.0.0.1:11434/v1\n",
    "model: openai:gpt-5-mini\nroles:\n  write: google:gemini-2.5-pro\nbudget:\n  prices: [openai:gpt-5-mini 0.25 2]\n",
])
def test_one_line_is_enough_for_a_model(text: str) -> None:
    """Each provider and program is named in one key; roles may name another."""
    assert parse_settings(text).model


@pytest.mark.parametrize(("text", "said"), [
    ("model: gpt-5\n", "nightwiki.yaml:1: model: 'gpt-5' names no model"),
    ("model: openai\n", "names no model"),
    ("model: claude\nroles:\n  cite: opnai:x\n", "nightwiki.yaml:3: roles.cite"),
    ("model: openai-compatible:x\n", "needs an address"),
    ("model: claude\nendpoint:\n  base_url: localhost:8080\n", "is no web address"),
    ("compile:\n  compiler: model\n", "no model is set"),
    ("budget:\n  prices: [gpt 1]\n", "is no price"),
    ("budget:\n  prices: [gpt 1 nan]\n", "is no price"),
    ("endpoint:\n  api_key: abc\n", "Keys are never kept here"),
])
def test_wrong_model_settings_are_refused_with_their_line(text: str, said: str) -> None:
    """A name, address or price that cannot be right says what would be."""
    with pytest.raises(SettingsError, match=r"nightwiki.yaml:\d") as raised:
        parse_settings(text)
    assert said in str(raised.value)


@pytest.mark.parametrize("key", FAKE_KEYS)
@pytest.mark.parametrize("form", ["model: {}", "endpoint:\n  key_variable: {}", "name: w  # {}", "x: {{y: [{}]}}"])
def test_a_key_in_the_settings_is_refused_and_not_repeated(key: str, form: str) -> None:
    """Wherever it stands, a key is refused with its line, and the message does not hold it."""
    text = form.format(key)
    with pytest.raises(SettingsError) as raised:
        parse_settings(text)
    assert f"nightwiki.yaml:{text.count(chr(10)) + 1}: holds a key" in str(raised.value)
    assert key not in repr(raised.value)


def test_an_address_with_a_password_is_refused() -> None:
    """A password in an address is a key as well."""
    with pytest.raises(SettingsError, match="holds a key or a password"):
        parse_settings("endpoint:\n  base_url: https://me:hunter2@example.org/v1\n")


@pytest.mark.parametrize("key", FAKE_KEYS)
def test_keys_are_blotted_out(key: str) -> None:
    """Known keys, and whatever has the shape of one, leave every text."""
    for form in ("Incorrect API key provided: {}.", '{{"authorization": "Bearer {}"}}', "GET /v1?key={}&x=1"):
        text = form.format(key)
        assert key not in redact(text) and key not in redact(text, ["other", key])
    assert redact("odd-shaped: zzz-123456", ["zzz-123456"]) == "odd-shaped: [key]"


@pytest.mark.parametrize("text", [
    "risk-taking-behaviour-of-teenagers", "https://example.org/a?page=2", "disk-0123456789abcdef0123",
    "mask-aaaaaaaaaaaaaaaaaaaaaaaaa", "the key to success", "http://127.0.0.1:11434/v1",
])
def test_ordinary_words_are_no_keys(text: str) -> None:
    """What only resembles a key is left alone."""
    assert not holds_key(text) and redact(text) == text
