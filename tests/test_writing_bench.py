"""The conformance set of the compilers: its bars hold, and it can tell good from bad."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.compile import BARS, bad, failures, nights, scores
from benchmarks.compile_gold import load
from benchmarks.compile_model import BAD, scripted
from tasks.coverage.quotes import locate


def test_the_set_quotes_its_own_sources() -> None:
    """Every hand-written sentence relies on words that stand in its source; half of the pairs only seem to clash."""
    gold = load()
    assert len(gold.sources) == 20
    assert all(locate(line.words, one.flat) for one in gold.sources for line in one.text)
    assert sum(pair.real for pair in gold.pairs) * 2 == len(gold.pairs)


@pytest.mark.parametrize("name", ["extractive", "good replies"])
def test_a_compiler_reaches_its_bars(name: str, tmp_path: Path) -> None:
    """Facts are kept, nothing is invented, every citation stands, no page is doubled."""
    gold, model = load(), name != "extractive"
    settings = "model: openai:scripted\n" if model else ""
    nights(gold, tmp_path / "w", settings, lambda _: scripted(gold) if model else None)
    found = scores(gold, tmp_path / "w", scoped=model)
    assert BARS[name] and failures(name, found) == []
    assert not model or found.contradictions_found == found.contradictions_real


@pytest.mark.parametrize("kind", ["fenced page", "cut off", "invented facts", "injected orders"])
def test_nothing_of_a_bad_reply_is_published(kind: str, tmp_path: Path) -> None:
    """No page comes of it, and every source that met it is named."""
    assert kind in BAD
    outcome = bad(load(), kind, tmp_path / "w")
    assert (outcome["published"], outcome["unnamed"]) == (0, [])
