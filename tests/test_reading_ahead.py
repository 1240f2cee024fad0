"""Processes of reading that are started before there is something to read."""

from __future__ import annotations

from pathlib import Path

from config.settings import Settings
from tasks.reading.pool import ReadingPool
from tasks.reading.read_source import ReadJob
from tasks.records import Outcome


def test_processes_started_ahead_read_what_comes(tmp_path: Path) -> None:
    """They are as many as there may be, and none is started besides; what they have loaded changes no result."""
    page = tmp_path / "page.html"
    text = "A magnetic drum stores the words of a machine on its turning surface, where fixed heads read them. " * 5
    page.write_text(f"<html><head><title>Drum</title></head><body><article><p>{text}</p></article></body></html>")
    jobs = [ReadJob(f"s{number}", str(page), "page.html") for number in range(6)]
    settings = Settings.model_validate({"name": "w", "extract": {"workers": 2}})
    with ReadingPool(settings) as pool:
        pool.start(web_pages=True)
        started = pool.pids()
        results = {result.source_id: result for result in pool.read(jobs)}
        assert pool.pids() == started and len(started) == 2
    assert sorted(results) == [job.source_id for job in jobs]
    assert {result.outcome for result in results.values()} == {Outcome.OK}


def test_processes_started_for_nothing_end_with_the_pool(tmp_path: Path) -> None:
    """A night that finds nothing to read leaves no process behind."""
    with ReadingPool(Settings.model_validate({"name": "w", "extract": {"workers": 2}})) as pool:
        pool.start(web_pages=True)
        assert len(pool.pids()) == 2
    assert pool.pids() == ()
