"""`nightwiki query` with a model, over real HTTP: only sentences that the pages carry are printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from serving.cli import run
from tests import wikis
from tests.loopback_model import loopback, streamed

SETTINGS = f'{wikis.SETTINGS}staging:\n  policy: "off"\n'


def ask(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code and output of a question."""
    capsys.readouterr()
    code = run(["-w", str(root), "query", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_model_answers_and_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The question and the passages go to the model fenced off; what it invents is left out, and said."""
    wiki = wikis.make(tmp_path, SETTINGS, eniac=wikis.ENIAC, colossus=wikis.COLOSSUS)
    wikis.run(wiki)
    with loopback() as model:
        (tmp_path / "nightwiki.yaml").write_text(SETTINGS + model.settings(), encoding="utf-8")
        model.script(streamed("ENIAC used about 18,000 vacuum tubes. [1] It was painted red in 1951. [1]"))
        code, out, err = ask(tmp_path, capsys, "How many vacuum tubes did ENIAC use?")
        assert code == 0, err
        assert "ENIAC used about 18,000 vacuum tubes. [1]" in out
        assert "painted red" not in out
        assert "left out" in err and "painted red" in err
        sent = model.questions[0]
        assert {"question", "passage 1"} <= set(sent.data)
        assert "18,000 vacuum tubes" in " ".join(sent.data.values())
        assert model.calls == 1


def test_without_its_model_the_pages_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that cannot be reached costs the prose, not the answer; `--no-model` does not ask it."""
    wiki = wikis.make(tmp_path, SETTINGS, eniac=wikis.ENIAC)
    wikis.run(wiki)
    with loopback() as model:
        settings = SETTINGS + model.settings()
    (tmp_path / "nightwiki.yaml").write_text(settings, encoding="utf-8")
    _, out, _ = ask(tmp_path, capsys, "--no-model", "--json", "How many vacuum tubes did ENIAC use?")
    quiet = json.loads(out)
    assert (quiet["degraded"], quiet["sentences"][0]["checked"]) == ([], "quoted")
    code, out, _ = ask(tmp_path, capsys, "--json", "How many vacuum tubes did ENIAC use?")
    told = json.loads(out)
    assert code == 0
    assert told["degraded"][0]["what"] == "model"
    assert told["sentences"] == quiet["sentences"]
