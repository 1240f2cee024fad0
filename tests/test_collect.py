"""What is read tonight, and what is left alone."""

from __future__ import annotations

import hashlib
import os
import sys
import time
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from config.settings import Settings
from tasks.records import Found, Outcome, SourceKind, SourceRecord
from tasks.sources.addresses import source_id
from tasks.sources.collect import Collected, collect, match_moves
from tests.web import FakeClock

OLD = 1_700_000_000


def put(vault: Path, path: str, text: str | bytes = "text", at: float = OLD) -> Path:
    """A file in the vault, written long ago."""
    full = vault / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(full, (at, at))
    return full


def remember(vault: Path, collected: Collected, known: tuple[SourceRecord, ...] = ()) -> tuple[SourceRecord, ...]:
    """The records after a night that read everything that was found."""
    ids = {collected.moved.get(one.location, one.location): one.id for one in known}
    records = []
    for one in collected.found:
        content = hashlib.sha256((vault / one.path).read_bytes()).hexdigest() if one.path else "0"
        records.append(
            SourceRecord(
                ids.get(one.location, source_id(one.location)),
                one.kind,
                one.location,
                Outcome.OK,
                content_hash=content,
                size=one.size,
                mtime_ns=one.mtime_ns,
                url=one.url,
                listed_in=one.listed_in,
            )
        )
    return tuple(records)


def night(vault: Path, known: tuple[SourceRecord, ...] = (), **sources: object) -> Collected:
    """Collect with the default settings, or these of sources."""
    return collect(vault, Settings.model_validate({"sources": sources}), known, clock=FakeClock())


def names(collected: Collected) -> list[str]:
    """The locations that were found."""
    return [one.location for one in collected.found]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault with a sources folder."""
    (tmp_path / "raw_sources").mkdir()
    return tmp_path


def test_files_of_all_folders_are_found(vault: Path) -> None:
    """Files in sub-folders are sources, with their size and time."""
    put(vault, "raw_sources/b/c/z.txt", "four")
    put(vault, "raw_sources/a.pdf")
    assert names(night(vault)) == ["raw_sources/a.pdf", "raw_sources/b/c/z.txt"]
    assert night(vault).found[1] == Found(
        SourceKind.FILE, "raw_sources/b/c/z.txt", "raw_sources/b/c/z.txt", 4, OLD * 10**9
    )


@pytest.mark.parametrize(
    "name",
    [
        "x.pdf.filepart", "x.pdf.part", "x.crdownload", "x.pdf.download", "x.tmp", "~$x.docx", "#x.md#", ".#x.md",
        "x.md~",
        ".x.md.swp", ".DS_Store", "Thumbs.db", "desktop.ini", ".hidden", ".~lock.x.odt#", "~syncthing~x.tmp", "Icon\r",
        ".obsidian/app.json", "x.pdf.download/x.pdf", "__MACOSX/x.txt", "sources.yaml", "inbox.md",
    ],
)  # fmt: skip
def test_leftovers_are_no_sources(vault: Path, name: str) -> None:
    """What editors, downloads and systems leave, and the lists themselves, are passed over in silence."""
    put(vault, f"raw_sources/{name}", "")
    put(vault, "raw_sources/real.txt")
    assert names(night(vault)) == ["raw_sources/real.txt"]
    assert night(vault).problems == ()


@pytest.mark.parametrize(
    "name", ["#1 pick.md", "C# notes.txt", "a.part1.rar", "tmp.txt", "download.pdf", "~home.md", "x.PDF"]
)
def test_names_that_only_look_odd_are_sources(vault: Path, name: str) -> None:
    """Nothing is passed over for a likeness."""
    put(vault, f"raw_sources/{name}")
    assert names(night(vault)) == [f"raw_sources/{name}"]


def test_saved_page_is_one_source(vault: Path) -> None:
    """The folder of pictures and scripts beside a saved web page is part of it."""
    put(vault, "raw_sources/Z3.html")
    put(vault, "raw_sources/Z3_files/jquery.js")
    put(vault, "raw_sources/Z4-Dateien/notes.txt")
    assert names(night(vault)) == ["raw_sources/Z3.html", "raw_sources/Z4-Dateien/notes.txt"]


def test_conflict_copies_are_named_and_not_read(vault: Path) -> None:
    """A second version from a syncing program would count as a second witness."""
    for name in ("a.sync-conflict-20260101-120000-ABCDEFG.md", "a (Anna's conflicted copy 2026-01-01).md"):
        put(vault, f"raw_sources/{name}")
    assert names(night(vault)) == []
    assert len(night(vault).problems) == 2


def test_ignore_globs(vault: Path) -> None:
    """Globs hold for vault paths and for paths in the sources folder."""
    for name in ("a.zip", "deep/b.zip", "private/c.txt", "d.txt"):
        put(vault, f"raw_sources/{name}")
    found = names(night(vault, ignore=["**/*.zip", "private"]))
    assert found == ["raw_sources/d.txt"]


# --- files that are still being written ------------------------------------------------------------------------------


class WritingClock(FakeClock):
    """A clock during whose pauses somebody goes on writing."""

    def __init__(self, start: float, write: Callable[[], None]) -> None:
        super().__init__(start)
        self._write = write

    def sleep(self, seconds: float) -> None:
        """Let time pass, and the writer write."""
        super().sleep(seconds)
        self._write()


def test_growing_file_waits_and_is_read_once(vault: Path) -> None:
    """A file that grows is left for the next night; one that stands still is read after one pause for all."""
    growing = put(vault, "raw_sources/growing.pdf", "1", at=OLD)
    put(vault, "raw_sources/new.pdf", "1", at=OLD - 1)
    put(vault, "raw_sources/future.pdf", "1", at=OLD + 10**8)
    clock = WritingClock(OLD + 0.5, lambda: growing.write_bytes(b"12"))
    collected = collect(vault, Settings(), (), clock=clock)
    assert names(collected) == ["raw_sources/future.pdf", "raw_sources/new.pdf"]
    assert collected.unsettled == ("raw_sources/growing.pdf",)
    assert clock.slept == [2.0]


def test_known_and_old_files_need_no_pause(vault: Path) -> None:
    """Only fresh files that nobody has read yet are waited for."""
    put(vault, "raw_sources/old.pdf")
    put(vault, "raw_sources/future.pdf", at=OLD * 2)
    known = remember(vault, night(vault))
    clock = FakeClock(OLD + 10)
    collect(vault, Settings(), known, clock=clock)
    assert clock.slept == []


def test_slow_move_is_not_taken_for_a_deletion(vault: Path) -> None:
    """While a new file is still growing, a file that went away may be the same one."""
    old = put(vault, "raw_sources/a.pdf", "abcdef")
    known = remember(vault, night(vault))
    old.unlink()
    new = put(vault, "raw_sources/sub/a.pdf", "abc", at=OLD)
    clock = WritingClock(OLD + 1, lambda: put(vault, "raw_sources/sub/a.pdf", "abcdef", at=OLD + 2) and None)
    assert collect(vault, Settings(), known, clock=clock).vanished == ()
    assert new.exists()
    later = collect(vault, Settings(), known, clock=FakeClock(OLD + 100))
    assert later.moved == {"raw_sources/a.pdf": "raw_sources/sub/a.pdf"} and later.vanished == ()


# --- unchanged, moved, gone ------------------------------------------------------------------------------------------


_opened: list[str] = []
sys.addaudithook(lambda event, args: _opened.append(str(args[0])) if event == "open" else None)


def to_read(collected: Collected, known: tuple[SourceRecord, ...]) -> list[str]:
    """Locations of files whose size or time is not that of their record."""
    stats = {(record.location, record.size, record.mtime_ns) for record in known}
    on_disk = [one for one in collected.found if one.kind in (SourceKind.FILE, SourceKind.CLIP)]
    return [one.location for one in on_disk if (one.location, one.size, one.mtime_ns) not in stats]


def test_unchanged_files_are_not_opened(vault: Path) -> None:
    """Size and time tell that nobody wrote to a file; neither a file nor a clipped note is opened again."""
    for number in range(20):
        put(vault, f"raw_sources/{number}.txt", str(number))
    put(vault, "Clippings/z3.md", "---\nsource: https://ex.org/z3\n---\n")
    known = remember(vault, night(vault))
    _opened.clear()
    collected = night(vault, known)
    assert to_read(collected, known) == []
    assert (collected.moved, collected.vanished, collected.problems) == ({}, (), ())
    assert [name for name in _opened if name.startswith(str(vault)) and "/sources.yaml" not in name] == [
        str(vault / "raw_sources/inbox.md")
    ]


def test_changed_and_new_files_are_read(vault: Path) -> None:
    """Another size or another time is a reason to read."""
    for name in ("same", "longer", "touched"):
        put(vault, f"raw_sources/{name}.txt")
    known = remember(vault, night(vault))
    put(vault, "raw_sources/longer.txt", "more text")
    put(vault, "raw_sources/touched.txt", at=OLD + 1)
    put(vault, "raw_sources/new.txt")
    assert to_read(night(vault, known), known) == [f"raw_sources/{name}.txt" for name in ("longer", "new", "touched")]


def test_moved_files_keep_their_identity(vault: Path) -> None:
    """Six files move into a sub-folder, one changes its letter case and one its Unicode form: nothing vanishes."""
    for number in range(6):
        put(vault, f"raw_sources/{number}.txt", f"text {number}")
    put(vault, "raw_sources/Report.pdf", "report")
    put(vault, f"raw_sources/{unicodedata.normalize('NFC', 'Küche')}.txt", "kitchen")
    known = remember(vault, night(vault))
    (vault / "raw_sources/sub").mkdir()
    for number in range(6):
        (vault / f"raw_sources/{number}.txt").rename(vault / f"raw_sources/sub/{number}.txt")
    (vault / "raw_sources/Report.pdf").rename(vault / "raw_sources/report.pdf")
    nfd = unicodedata.normalize("NFD", "Küche")
    (vault / f"raw_sources/{unicodedata.normalize('NFC', 'Küche')}.txt").rename(vault / f"raw_sources/{nfd}.txt")
    collected = night(vault, known)
    assert len(collected.moved) == 8 and collected.vanished == ()
    assert collected.moved["raw_sources/Report.pdf"] == "raw_sources/report.pdf"
    assert {one.id for one in remember(vault, collected, known)} == {one.id for one in known}


def test_only_files_of_a_vanished_size_are_hashed() -> None:
    """Looking for a moved file opens no file that cannot be it."""
    record = SourceRecord("id", SourceKind.FILE, "r/a.txt", Outcome.OK, content_hash="h", size=5, mtime_ns=1)
    new = [Found(SourceKind.FILE, f"r/{size}.txt", f"r/{size}.txt", size, 1) for size in (4, 5, 6)]
    hashed: list[str] = []
    moves = match_moves([record], new, lambda one: hashed.append(one.path) or "h")  # type: ignore[func-returns-value]
    assert (hashed, moves) == (["r/5.txt"], {"id": new[1]})
    match_moves([replace(record, size=0, mtime_ns=0)], new, lambda one: hashed.append(one.path) or "x")  # type: ignore[func-returns-value]
    assert len(hashed) == 4


def test_copies_and_empty_files_are_matched_by_name() -> None:
    """Among files with the same bytes the likest name is the moved one; empty files never change their name."""

    def record(path: str, size: int) -> SourceRecord:
        return SourceRecord(path, SourceKind.FILE, path, Outcome.OK, content_hash=f"h{size}", size=size, mtime_ns=1)

    def found(path: str, size: int) -> Found:
        return Found(SourceKind.FILE, path, path, size, 1)

    new = [found("r/x.txt", 5), found("r/sub/a.txt", 5), found("r/B.txt", 5), found("r/e2.txt", 0), found("s/f.txt", 0)]
    old = [record("r/a.txt", 5), record("r/b.txt", 5), record("r/e.txt", 0), record("r/f.txt", 0)]
    moves = match_moves(old, new, lambda one: f"h{one.size}")
    assert {name: one.path for name, one in moves.items()} == {
        "r/b.txt": "r/B.txt",
        "r/a.txt": "r/sub/a.txt",
        "r/f.txt": "s/f.txt",
    }


def test_deleted_file_vanishes_once_and_may_come_back(vault: Path) -> None:
    """A source that is gone is reported once, and recognised when it returns elsewhere."""
    put(vault, "raw_sources/a.txt")
    known = remember(vault, night(vault))
    (vault / "raw_sources/a.txt").unlink()
    assert night(vault, known).vanished == (known[0].id,)
    gone = (replace(known[0], outcome=Outcome.GONE),)
    assert night(vault, gone).vanished == ()
    put(vault, "raw_sources/back.txt")
    assert night(vault, gone).moved == {"raw_sources/a.txt": "raw_sources/back.txt"}


def test_folder_that_cannot_be_seen_proves_nothing(vault: Path) -> None:
    """A drive that is not there, a folder without permission and a file kept in a cloud are no deletions."""
    put(vault, "raw_sources/drive/a.txt", "1")
    put(vault, "raw_sources/cloud.pdf", "2")
    put(vault, "raw_sources/inbox.md", "https://ex.org/a")
    known = remember(vault, night(vault))
    (vault / "raw_sources/cloud.pdf").rename(vault / "raw_sources/.cloud.pdf.icloud")
    clouded = night(vault, known)
    assert clouded.vanished == () and "iCloud" in clouded.problems[0].cause
    (vault / "raw_sources").rename(vault / "elsewhere")
    away = night(vault, known)
    assert away.vanished == () and "not there" in away.problems[0].cause


# --- links, clips, lists ---------------------------------------------------------------------------------------------


def test_links_that_leave_the_vault_are_refused(vault: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A link to another place is reported and not followed; one in a circle ends; pages are never sources."""
    outside = tmp_path_factory.mktemp("outside")
    put(outside, "secret.txt")
    put(vault, "wiki/page.md")
    put(vault, "library/book.txt")
    put(vault, "raw_sources/a.txt")
    for name, target in {
        "out": outside, "out.txt": outside / "secret.txt", "circle": vault / "raw_sources", "pages": vault / "wiki",
        "all": vault, "library": vault / "library", "nothing": vault / "nothing",
    }.items():  # fmt: skip
        (vault / "raw_sources" / name).symlink_to(target)
    collected = night(vault)
    assert names(collected) == ["raw_sources/a.txt", "raw_sources/library/book.txt"]
    assert {problem.path for problem in collected.problems} == {
        f"raw_sources/{name}" for name in ("out", "out.txt", "nothing", "pages", "all")
    }


def test_clips_are_read_in_place(vault: Path) -> None:
    """A clipped note is a source with its address; a person's own note beside it is none."""
    clip = '---\ntitle: Z3\nsource: "https://ex.org/z3?utm_source=x"\n---\ntext'
    put(vault, "Clippings/z3.md", clip)
    put(vault, "Clippings/mine.md", "---\nsource: a book\n---\n")
    put(vault, "Clippings/plain.md", "text")
    put(vault, "Clippings/photo.png", "x")
    put(vault, "raw_sources/inbox.md", "https://ex.org/z3 https://ex.org/other")
    collected = night(vault)
    assert [(one.kind, one.location, one.url) for one in collected.found] == [
        (SourceKind.CLIP, "Clippings/z3.md", "https://ex.org/z3"),
        (SourceKind.WEB, "https://ex.org/other", ""),
    ]
    assert collected.duplicates == {"https://ex.org/z3": "Clippings/z3.md"}
    assert (vault / "Clippings/z3.md").read_text() == clip


def test_overlapping_folders_count_a_file_once(vault: Path) -> None:
    """Clips inside the sources folder, adopted notes there, and a sources folder that is the vault itself."""
    put(vault, "raw_sources/clips/c.md", "---\nsource: https://ex.org/c\n---\n")
    put(vault, "raw_sources/n.md")
    put(vault, "notes/m.md")
    settings = Settings.model_validate({"sources": {"clips": ["raw_sources/clips", "./raw_sources/clips/"]}})
    collected = collect(
        vault, settings, (), ["raw_sources/n.md", "notes/m.md", "notes/m.md", "../x", "notes"], FakeClock()
    )
    assert [(one.kind, one.location) for one in collected.found] == [
        (SourceKind.FILE, "notes/m.md"),
        (SourceKind.CLIP, "raw_sources/clips/c.md"),
        (SourceKind.FILE, "raw_sources/n.md"),
    ]
    put(vault, "wiki/page.md")
    put(vault, "evidence/e.md")
    own = ["wiki/page.md", "evidence/e.md", "raw_sources/inbox.md"]
    assert not {*own} & {*names(collect(vault, settings, (), own, FakeClock()))}
    assert "wiki/page.md" not in names(night(vault, dir=".")) and "evidence/e.md" not in names(night(vault, dir="."))


def test_listed_addresses(vault: Path) -> None:
    """Both lists are read and left as they are; an address that was taken off has vanished, unless a list is broken."""
    inbox = put(vault, "raw_sources/inbox.md", "- Zuse https://ex.org/zuse\nfile:///etc/hosts")
    put(vault, "raw_sources/sources.yaml", "- https://ex.org/a\n- https://ex.org/zuse\n- youtu.be/dQw4w9WgXcQ\n")
    collected = night(vault)
    assert [one.kind for one in collected.found] == [SourceKind.WEB, SourceKind.WEB, SourceKind.VIDEO]
    known = remember(vault, replace(collected, found=tuple(replace(one, path="") for one in collected.found)))
    put(vault, "raw_sources/sources.yaml", "- https://ex.org/a\n")
    assert night(vault, known).vanished == (source_id("https://www.youtube.com/watch?v=dQw4w9WgXcQ"),)
    put(vault, "raw_sources/sources.yaml", "- a: b: c\n")
    broken = night(vault, known)
    assert broken.vanished == () and broken.problems[0].path == "raw_sources/sources.yaml"
    assert inbox.read_text().startswith("- Zuse")


def test_odd_names_and_depths(vault: Path) -> None:
    """Names that are no Unicode and folders without end are reported; line breaks and quotes in a name are fine."""
    put(vault, 'raw_sources/a "b"\nc.txt')
    put(vault, "raw_sources/" + "d/" * 70 + "deep.txt")
    collected = night(vault)
    assert names(collected) == ['raw_sources/a "b"\nc.txt']
    assert "nested deeper" in collected.problems[0].cause
    try:
        Path(os.fsdecode(bytes(vault / "raw_sources") + b"/\xff.txt")).touch()
    except OSError:
        return  # this file system knows better
    assert any("Unicode" in problem.cause for problem in night(vault).problems)
    assert len(night(vault).found) == 1


def test_ten_thousand_unchanged_sources_stay_unchanged(vault: Path) -> None:
    """A night over very many files and addresses finds all of them and no change."""
    for number in range(10_000):
        folder = vault / "raw_sources" / str(number % 20)
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.txt").touch()
    put(vault, "raw_sources/sources.yaml", "".join(f"- https://ex.org/{number}\n" for number in range(2000)))
    collected = collect(vault, Settings(), (), clock=FakeClock(time.time() + 100))
    known = tuple(
        SourceRecord(
            str(number), one.kind, one.location, Outcome.OK, content_hash="x", size=one.size, mtime_ns=one.mtime_ns
        )
        for number, one in enumerate(collected.found)
    )
    again = collect(vault, Settings(), known, clock=FakeClock(time.time() + 100))
    assert to_read(again, known) == []
    assert len(again.found) == 12_000
