"""A wiki in one file, and back: the same answers, nothing read again, and nothing half-written."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pytest

from config.errors import NightwikiError
from config.wiki import open_wiki
from flows.keeping import back_up, restore
from flows.session import open_state
from tests import wikis
from tests.test_cli import say, told
from tests.wikis import COLOSSUS, ENIAC, SETTINGS, put, run, vault


def _search(root: Path) -> object:
    answer = json.loads(say("search", "vacuum tubes", "-w", root, "--json")[1])
    return answer["hits"], answer["snapshot"]


def test_a_restored_wiki_is_the_same(tmp_path: Path) -> None:
    """Same files, same answers; the next night reads and writes nothing; undo still works."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    put(wiki.root, ".obsidian/app.json", "{}")
    night = run(wiki).run
    assert told("backup", tmp_path / "b.tar.zst", "-w", wiki.root)["snapshot"]
    assert told("restore", tmp_path / "b.tar.zst", tmp_path / "again")["files"] > 5
    again = open_wiki(tmp_path / "again")
    assert vault(again.root) == vault(wiki.root)
    assert _search(again.root) == _search(wiki.root)
    first, rows = open_state(again).reader.current(), open_state(wiki).ledger.sources()
    report = run(again, 2)
    assert (report.changed, report.lines, report.snapshot) == ((), (), first.id if first else "")
    assert open_state(again).ledger.sources() == rows
    assert say("undo", night, "-w", again.root)[0] == 0 and not (again.root / "wiki/eniac.md").exists()


def test_state_outside_of_the_vault_comes_inside(tmp_path: Path) -> None:
    """The copy must not share its state with the wiki it was taken from."""
    wiki = wikis.make(tmp_path / "w", f"{SETTINGS}state_dir: {tmp_path / 'state'}\n", machine=ENIAC)
    run(wiki)
    back_up(wiki, tmp_path / "b")
    restore(tmp_path / "b", tmp_path / "again")
    again = open_wiki(tmp_path / "again")
    assert again.state_dir == (tmp_path / "again/.nightwiki").resolve()
    assert run(again, 2).changed == ()


def test_derived_data_is_left_out(tmp_path: Path) -> None:
    """Neither ledger nor index nor locks; and a dry run writes nothing."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    assert told("backup", tmp_path / "b", "-w", wiki.root, "--dry-run")["files"] > 5
    assert not (tmp_path / "b").exists()
    back_up(wiki, tmp_path / "b")
    with (
        pa.memory_map(str(tmp_path / "b")) as file,
        pa.CompressedInputStream(file, "zstd") as packed,
        tarfile.open(fileobj=io.BytesIO(packed.read())) as tar,
    ):
        names = tar.getnames()
    assert [name for name in names if any(part in name for part in ("ledger", "index/", ".lock", ".holder"))] == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2] + b"\0\1\2\3" + content[len(content) // 2 + 4 :],
        lambda content: b"",
        lambda content: b"something else",
    ],
    ids=["cut", "last byte", "flipped", "empty", "other"],
)
def test_a_damaged_archive_leaves_nothing(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    """One line, and no folder."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    back_up(wiki, tmp_path / "b")
    (tmp_path / "b").write_bytes(spoil((tmp_path / "b").read_bytes()))
    code, _, err = say("restore", tmp_path / "b", tmp_path / "again")
    assert code == 1 and "damaged" in err and err.count("\n") == 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b", "w"]


_ELSEWHERE = ["vault/../out.md", "/etc/out", "out.md", "vault//out", "vault/a\\..\\out", "state/.."]


@pytest.mark.parametrize("name", _ELSEWHERE)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    """And so is a link; nothing is written."""
    for link in (False, True):
        with (
            pa.OSFile(str(tmp_path / "b"), "wb") as file,
            pa.CompressedOutputStream(file, "zstd") as packed,
            tarfile.open(fileobj=cast("IO[bytes]", packed), mode="w|") as tar,
        ):
            entry = tarfile.TarInfo("vault/link" if link else name)
            entry.type, entry.linkname = (tarfile.SYMTYPE, "/etc") if link else (tarfile.REGTYPE, "")
            tar.addfile(entry)
        with pytest.raises(NightwikiError, match="damaged"):
            restore(tmp_path / "b", tmp_path / "again")
        assert [one.name for one in tmp_path.iterdir()] == ["b"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Neither a file by a backup, nor a folder with something in it by a restored wiki; an empty one is taken."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    back_up(wiki, tmp_path / "b")
    for target, cause in ((tmp_path / "b", "exists already"), (wiki.root / "x", "within the wiki")):
        with pytest.raises(NightwikiError, match=cause):
            back_up(wiki, target)
    with pytest.raises(NightwikiError, match="not an empty folder"):
        restore(tmp_path / "b", wiki.root)
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "b", tmp_path / "empty")
    assert vault(tmp_path / "empty") == vault(wiki.root)
