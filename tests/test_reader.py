"""Readers see one whole snapshot, take no lock, and never meet the ledger."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config.errors import StateError
from storage.reader import Reader
from storage.snapshots import Snapshots
from tasks.records import PageRecord

DAY = "2026-05-{:02}T02:00:00Z"


def page(number: int, text: str = "") -> PageRecord:
    return PageRecord(f"p{number:04}", f"wiki/{number}.md", str(number), f"Page {number}", False, "0" * 64, text)


def publish(folder: Path, number: int, *pages: PageRecord) -> str:
    return Snapshots(folder).publish(f"c{number}", f"r{number}", "ingest", DAY.format(number), {"pages": pages}, {}).id


def test_before_the_first_snapshot_there_is_none(tmp_path: Path) -> None:
    """Looking creates nothing."""
    assert Reader(tmp_path / "state").current() is None and not (tmp_path / "state").exists()


def test_a_reader_follows_the_pointer(tmp_path: Path) -> None:
    """The same snapshot is handed out until another is published; the old one stays whole."""
    publish(tmp_path, 1, page(1))
    reader = Reader(tmp_path)
    first = reader.current()
    assert first is not None and reader.current() is first
    publish(tmp_path, 2, page(2))
    second = reader.current()
    assert second is not None and (first.pages(), second.pages()) == ((page(1),), (page(1), page(2)))


def test_a_collected_snapshot_stays_readable_for_who_has_it_open(tmp_path: Path) -> None:
    """Its files are mapped when it is opened, so unlinking them does no harm."""
    publish(tmp_path, 1, page(1, "text " * 1000))
    reader = Reader(tmp_path)
    held = reader.current()
    assert held is not None
    shutil.rmtree(tmp_path / "snapshots")
    assert held.pages() == (page(1, "text " * 1000),)


def test_a_snapshot_open_in_this_process_is_not_collected(tmp_path: Path) -> None:
    """Retention leaves what somebody here holds, and takes it once they let go."""
    first = publish(tmp_path, 1, page(1))
    held = Reader(tmp_path).current()
    publish(tmp_path, 2, page(2))
    later = "2026-06-01T00:00:00Z"
    assert held is not None and Snapshots(tmp_path).retention(0, later) == ()
    del held
    gc.collect()
    assert Snapshots(tmp_path).retention(0, later) == (first,)


def test_the_past_is_found_by_id_run_and_time(tmp_path: Path) -> None:
    """As-of questions take a snapshot's id or its beginning, a run, a date to its end, or a time."""
    ids = [publish(tmp_path, number, page(number)) for number in (1, 2, 3)]
    reader = Reader(tmp_path)
    for ref in (ids[1], ids[1][:12], "r2", "2026-05-02", "2026-05-02T02:00:00Z", "2026-05-03T01:59:59Z"):
        assert reader.at(ref).id == ids[1]
    with pytest.raises(StateError, match="kept are 2026-05-01T02:00:00Z to 2026-05-03T02:00:00Z"):
        reader.at("2026-04-30")


def test_columns_and_single_rows_can_be_asked_for(tmp_path: Path) -> None:
    """Columns come in the order asked for; a few rows are read without the whole table."""
    publish(tmp_path, 1, *(page(number, f"text {number}") for number in range(1000)))
    publish(tmp_path, 2, page(7, "new"))
    snapshot = Reader(tmp_path).current()
    assert snapshot is not None
    table = snapshot.table("pages", ["title", "id"])
    assert table.column_names == ["title", "id"] and table.num_rows == snapshot.count("pages") == 1000
    some = snapshot.some("pages", ["p0007", "p0999", "none"], ["markdown"])
    assert some["markdown"].to_pylist() == ["new", "text 999"]
    assert snapshot.rows("pages", ["p0007"]) == (page(7, "new"),) and snapshot.rows("sources") == ()


@pytest.mark.parametrize("part", ["current", "manifests/*.json", "segments/*.parquet"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damage_is_one_clear_error(tmp_path: Path, part: str, damage: str) -> None:
    """A damaged or missing pointer, manifest or segment names its file; a missing pointer means nothing published."""
    publish(tmp_path, 1, page(1))
    (file,) = (tmp_path / "snapshots").glob(part)
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:20])
    if (part, damage) == ("current", "gone"):
        assert Reader(tmp_path).current() is None
        return
    with pytest.raises(StateError, match=file.name):
        snapshot = Reader(tmp_path).current()
        assert snapshot is not None
        snapshot.pages()


def test_reading_imports_no_duckdb(tmp_path: Path) -> None:
    """The read plane works while a writer has the ledger."""
    publish(tmp_path, 1, page(1))
    code = ("import sys; from pathlib import Path; from storage.reader import Reader; "
            "snapshot = Reader(Path(sys.argv[1])).current(); print(len(snapshot.pages()), 'duckdb' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"
    assert not (tmp_path / "write.lock").exists()
