"""`nightwiki model check` tells what works, what it costs and how long it took."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.keys import FAKE_KEYS
from tests.loopback_model import Question, loopback
from tests.test_cli import say
from tests.web import Reply


def wiki(tmp_path: Path, lines: str) -> str:
    (tmp_path / "nightwiki.yaml").write_text(lines)
    return str(tmp_path)


def test_each_role_is_asked_one_tiny_question(tmp_path: Path) -> None:
    """The JSON follows its schema; a local model is free; nothing is taken from the cache."""
    with loopback(lambda question: '{"year": 1941}') as model:
        where = wiki(tmp_path, model.settings())
        for calls in (6, 12):
            code, out, err = say("-w", where, "model", "check", "--json")
            assert (code, err, model.calls) == (0, "", calls)
    answer = json.loads(out)
    jsonschema.validate(answer, json.loads(say("schema", "model", "check")[1]))
    assert [one["role"] for one in answer["roles"]] == ["analyse", "decide", "write", "cite", "route", "answer"]
    assert {(one["works"], one["price_input"], one["reason"]) for one in answer["roles"]} == {(True, 0, "")}
    assert answer["money"] == 0 and all(one["input_tokens"] > 0 for one in answer["roles"])


def test_what_fails_is_said_once_with_its_next_step(tmp_path: Path) -> None:
    """Exit code 3, one line a reason, and the roles that work are still asked."""

    def answer(question: Question) -> str | Reply:
        return Reply(404, b"no such model") if question.body["model"] == "x" else '{"year": 7}'

    with loopback(answer) as model:
        where = wiki(tmp_path, model.settings() + "roles:\n  write: openai-compatible:x\n  cite: openai-compatible:x\n")
        code, out, _ = say("-w", where, "model", "check")
    assert code == 3 and out.count("there is no such model") == 1 and out.count(" works ") == 4
    assert "wrongly (7 instead of 1941)" in out and "Check `model`" in out


@pytest.mark.parametrize(("provider", "said"), [
    ("openai:gpt-5-mini", "Set OPENAI_API_KEY, or say: keyring set nightwiki openai"),
    ("anthropic:claude-haiku-4-5", "Set ANTHROPIC_API_KEY"),
    ("google:gemini-2.5-flash", "Set GOOGLE_API_KEY or GEMINI_API_KEY"),
    ("openai-compatible:x\nendpoint:\n  base_url: https://example.org/v1\n  key_variable: MY_KEY", "Set MY_KEY"),
])
def test_a_missing_key_is_named(tmp_path: Path, provider: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said where the key belongs, and nothing is asked."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, out, _ = say("-w", wiki(tmp_path, f"model: {provider}\n"), "model", "check")
    assert code == 3 and said in out


def test_no_model_is_an_error_with_an_example(tmp_path: Path) -> None:
    """Without a model there is nothing to check."""
    code, _, err = say("-w", wiki(tmp_path, "name: w\n"), "model", "check")
    assert code == 1 and "no model is set" in err and "anthropic:" in err


def test_nothing_on_disk_holds_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key goes to the server and nowhere else, even when the server sends it back."""
    monkeypatch.setenv("SECRET_OF_MINE", FAKE_KEYS[0])
    refused = Reply(401, json.dumps({"error": {"message": f"bad key {FAKE_KEYS[0]}"}}).encode(),
                    {"Content-Type": "application/json"})
    with loopback(lambda question: refused) as model:
        where = wiki(tmp_path, model.settings(key_variable="SECRET_OF_MINE"))
        code, out, err = say("-w", where, "model", "check")
        assert model.questions[0].headers["authorization"] == f"Bearer {FAKE_KEYS[0]}"
    assert code == 3 and FAKE_KEYS[0] not in out + err and "the key is not accepted" in out
    assert [file for file in tmp_path.rglob("*") if file.is_file() and FAKE_KEYS[0].encode() in file.read_bytes()] == []
    assert list((tmp_path / ".nightwiki" / "spending").glob("*.jsonl"))
