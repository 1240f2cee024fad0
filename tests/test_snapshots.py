"""Publishing costs what changed, and nobody ever sees half a snapshot."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from storage.durable import fsync_file
from storage.reader import Reader, Tables
from storage.snapshots import MOST_DELTAS, MOST_DROPPED, Snapshots
from tasks.records import PageRecord

DAY = "2026-05-{:02}T02:00:00Z"


def page(number: int, text: str = "") -> PageRecord:
    return PageRecord(f"p{number:04}", f"wiki/{number}.md", str(number), f"Page {number}", False, "0" * 64, text)


def publish(snapshots: Snapshots, number: int, pages: Sequence[PageRecord] = (), drops: Sequence[str] = ()) -> str:
    """Publish a commit of pages on the day `number`; the snapshot's id."""
    return snapshots.publish(f"c{number}", f"r{number}", "ingest", DAY.format(number), {"pages": tuple(pages)},
                             {"pages": tuple(drops)}).id


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path)


def rows(snapshots: Snapshots) -> tuple[PageRecord, ...]:
    snapshot = Reader(snapshots.layout.root.parent).current()
    assert snapshot is not None
    return snapshot.pages()


@pytest.mark.parametrize("seed", range(4))
def test_deltas_and_tombstones_add_up(snapshots: Snapshots, seed: int) -> None:
    """After any row of changes and removals the snapshot holds exactly what is left, by id."""
    rng, model = random.Random(seed), dict[str, PageRecord]()
    for number in range(1, 25):
        changed = {rng.randint(0, 60) for _ in range(rng.choice((1, 2, 30)))}
        pages = [page(one, f"{number} ") for one in changed]
        drops = [one for one in model if rng.random() < 0.1 and one not in {row.id for row in pages}]
        publish(snapshots, number, pages, drops)
        model |= {row.id: row for row in pages}
        for one in drops:
            del model[one]
        assert rows(snapshots) == tuple(model[key] for key in sorted(model))


def test_a_small_change_writes_a_small_file(snapshots: Snapshots) -> None:
    """The base is not written again for one page, until there are more than eight deltas."""
    publish(snapshots, 1, [page(n, "text " * 200) for n in range(400)])
    base = snapshots.current()
    assert base is not None
    for number in range(2, 2 + MOST_DELTAS):
        publish(snapshots, number, [page(number)])
    current = snapshots.current()
    assert current is not None and len(current.tables["pages"]) == 1 + MOST_DELTAS
    assert current.tables["pages"][0] == base.tables["pages"][0]
    publish(snapshots, 20, [page(1)], ["p0002"])
    merged = snapshots.current()
    assert merged is not None and [one.rows for one in merged.tables["pages"]] == [400, MOST_DELTAS]
    assert len(rows(snapshots)) == 399
    publish(snapshots, 21, [page(n) for n in range(120)])
    whole = snapshots.current()
    assert whole is not None and [one.rows for one in whole.tables["pages"]] == [400]


def test_a_commit_is_published_once(snapshots: Snapshots) -> None:
    """A replay that publishes the same commit again changes nothing."""
    assert publish(snapshots, 1, [page(1)]) == publish(snapshots, 1, [page(1)])
    assert len(snapshots.layout.listed()) == 1


def test_a_crash_before_the_pointer_changes_nothing(snapshots: Snapshots) -> None:
    """Until the pointer is replaced the former snapshot is current; rests are collected later."""
    publish(snapshots, 1, [page(1)])
    def crash(step: str) -> None:
        if step == "manifest":
            raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        snapshots.publish("c2", "r2", "ingest", DAY.format(2), {"pages": (page(2),)}, {}, crash)
    assert rows(snapshots) == (page(1),)
    publish(snapshots, 3, [page(3)])
    assert rows(snapshots) == (page(1), page(3))


def test_old_snapshots_go_and_the_current_one_stays(snapshots: Snapshots) -> None:
    """Retention counts from when a snapshot was replaced; files that none names go with it."""
    ids = [publish(snapshots, number, [page(number)]) for number in range(1, 5)]
    assert snapshots.retention(30, DAY.format(20)) == ()
    assert snapshots.retention(2, DAY.format(5)) == tuple(ids[:1])
    assert snapshots.retention(0, "2026-06-01T00:00:00Z") == tuple(ids[1:3])
    assert snapshots.layout.listed() == (ids[3],) and len(rows(snapshots)) == 4
    current = snapshots.current()
    assert current is not None
    named = {segment.file for segment in current.tables["pages"]}
    assert {file.name for file in snapshots.layout.segments.iterdir()} == named


def test_a_clock_that_runs_ahead_does_not_take_the_whole_past(snapshots: Snapshots) -> None:
    """Past their time, the oldest go first, and only some in one night."""
    ids = [publish(snapshots, number, [page(number)]) for number in range(1, 26)]
    assert snapshots.retention(30, "2027-06-01T00:00:00Z") == tuple(ids[:MOST_DROPPED])
    assert snapshots.retention(30, "2027-06-02T00:00:00Z") == tuple(ids[MOST_DROPPED : 2 * MOST_DROPPED])
    assert snapshots.retention(30, "2027-06-03T00:00:00Z") == tuple(ids[2 * MOST_DROPPED : 24])


def test_of_a_days_edits_the_last_is_kept(snapshots: Snapshots) -> None:
    """Every edit makes a snapshot; a day later those between two runs are thinned, what runs made and met stays."""
    kinds = ["ingest", "sync", "sync", "sync", "ingest", "sync", "sync"]
    ids = [
        snapshots.publish(f"c{n}", f"r{n}", kind, DAY.format(1), {"pages": (page(n),)}, {}).id
        for n, kind in enumerate(kinds)
    ]
    assert snapshots.retention(30, DAY.format(1)) == ()
    assert snapshots.retention(30, DAY.format(3)) == (ids[1], ids[2], ids[5])


def test_a_snapshot_just_replaced_stays_for_an_hour(snapshots: Snapshots) -> None:
    """A reader in another process may still be opening its files."""
    first = publish(snapshots, 1, [page(1)])
    publish(snapshots, 2, [page(2)])
    assert snapshots.retention(0, "2026-05-02T02:30:00Z") == ()
    assert snapshots.retention(0, "2026-05-02T03:30:00Z") == (first,)


class Builds:
    """A small index builder: notes what it was asked, and counts pages."""

    def __init__(self) -> None:
        self.asked: list[tuple[frozenset[str], bool]] = []

    def __call__(self, tables: Tables, changed: Mapping[str, frozenset[str]], previous: Path | None, out: Path) -> None:
        self.asked.append((changed["pages"], previous is not None))
        (out / "count").write_text(str(tables.table("pages", ["id"]).num_rows))
        fsync_file(out / "count")


def test_the_index_is_built_beside_the_snapshot(tmp_path: Path) -> None:
    """The builder gets the new tables, what changed, and the former index; a lost index is built anew."""
    builder = Builds()
    snapshots = Snapshots(tmp_path, builder)
    publish(snapshots, 1, [page(1), page(2)])
    second = publish(snapshots, 2, [page(3)], ["p0001"])
    assert builder.asked == [({"p0001", "p0002"}, False), ({"p0001", "p0003"}, True)]
    index = snapshots.layout.index(second)
    assert (index / "count").read_text() == "2" and not snapshots.rebuild_index()
    (index / "count").unlink()
    index.rmdir()
    assert snapshots.rebuild_index() and (index / "count").read_text() == "2"


def test_a_failing_index_does_not_stop_a_night(tmp_path: Path) -> None:
    """The snapshot is published without it, and it is told."""
    def broken(tables: Tables, changed: Mapping[str, frozenset[str]], previous: Path | None, out: Path) -> None:
        (out / "half").write_text("x")
        raise RuntimeError("no room")
    snapshots = Snapshots(tmp_path, broken)
    snapshot = publish(snapshots, 1, [page(1)])
    assert rows(snapshots) == (page(1),) and not snapshots.layout.index(snapshot).exists()
    assert snapshots.take_messages() == ("The search index could not be built (RuntimeError: no room).",)
