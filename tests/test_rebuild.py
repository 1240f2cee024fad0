"""Vault, journal, blobs and snapshots are the truth; the ledger and the search index can be thrown away."""

from __future__ import annotations

import shutil
from pathlib import Path

from config.wiki import open_wiki
from flows.night import night, sync
from flows.steps import DirectRunner
from serving.cli import run as command

NOW = "2026-12-02T02:00:00Z"
QUESTIONS = ("who built the Z3", "moth in a relay", "first compiler", "30 tons")


def _answers(root: Path, capsys: object) -> list[str]:
    told = []
    for question in QUESTIONS:
        assert command(["search", question, "--json", "-w", str(root)]) == 0
        told.append(capsys.readouterr().out)  # type: ignore[attr-defined]
    return told


def test_without_ledger_and_index_the_answers_are_the_same(demo: Path, capsys: object) -> None:
    """A night after the loss changes no file, publishes nothing and answers as before."""
    before = _answers(demo, capsys)
    state = demo / ".nightwiki"
    for file in state.glob("ledger.duckdb*"):
        file.unlink()
    shutil.rmtree(state / "snapshots" / "index")
    report = night(open_wiki(demo), DirectRunner(), NOW)
    assert (report.changed, report.lines) == ((), ())
    assert _answers(demo, capsys) == before


def test_a_damaged_ledger_is_set_aside(demo: Path, capsys: object) -> None:
    """Bytes flipped in the database cost nothing but a rebuild."""
    before = _answers(demo, capsys)
    ledger = demo / ".nightwiki" / "ledger.duckdb"
    content = bytearray(ledger.read_bytes())
    for at in range(0, len(content), 4096):
        content[at] ^= 0xFF
    ledger.write_bytes(content)
    (demo / ".nightwiki" / "ledger.duckdb.wal").write_bytes(b"no log at all")
    assert sync(open_wiki(demo), DirectRunner(), NOW).changed == ()
    assert _answers(demo, capsys) == before
