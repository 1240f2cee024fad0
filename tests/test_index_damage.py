"""A search index with any byte lost or changed is told from a whole one, and nobody is answered from it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from storage.check import check, repair
from storage.commit import commit
from storage.reader import Reader
from storage.search.engine import Engine, SearchedWiki
from storage.search.index_files import damage
from storage.search.search_index import build_index
from storage.state import WikiState
from tasks.commits import Changes
from tasks.embedding.model import Model
from tasks.records import Chunk, ChunksRecord, EmbeddingRecord, PageRecord
from tests.search_wiki import Concepts, Snapshots, Tables, embedded, page, publish

SHIPS = Concepts({"vessel": "ship", "freighter": "ship", "boat": "ship"})
WIKI = [
    page(1, "Freighter", "The freighter carries goods.", aliases=("Coaster",), tags=("sea",)),
    page(2, "Lighthouse", "A lighthouse stands on a rock.\n\n## Lamp\n\nIts lamp turns."),
    page(3, "船", "貨船運載貨物。"),
]
CHUNKS = (ChunksRecord("s1", (Chunk(0, ("Report",), "Krakatoa erupted in 1883.", "^p2"),)),)
NOW = "2026-05-01T02:00:00Z"


def flipped(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def longer(content: bytes, chance: random.Random) -> bytes:
    return content + chance.randbytes(8)


def zeroed(content: bytes, chance: random.Random) -> bytes:
    return bytes(len(content))


@pytest.mark.parametrize("harm", [flipped, cut, longer, zeroed])
def test_any_harm_to_any_file_is_told_and_answered_from_memory(
    tmp_path: Path, harm: Callable[[bytes, random.Random], bytes]
) -> None:
    """The hits are those of the whole index, and the answer names the file; never a traceback."""
    snapshot = publish(tmp_path, Tables(WIKI, embedded(WIKI, SHIPS), CHUNKS))
    model = Model(lambda: SHIPS)

    def ask() -> tuple[object, ...]:
        search = Engine([SearchedWiki("w", Snapshots(snapshot), model)])
        result = search.search("coaster vessel lamp 1883", layer="both")
        return result.hits, [(one.what, one.next_step) for one in result.degraded], result.degraded

    expected, told, _ = ask()
    assert expected and not told
    chance = random.Random(7)
    for file in sorted(snapshot.index_dir.iterdir()):
        whole = file.read_bytes()
        harmed = harm(whole, chance)
        if harmed.split() == whole.split():
            continue  # white space between the manifest's names says nothing
        file.write_bytes(harmed)
        hits, told, degraded = ask()
        assert hits == expected and told == [("index", "Run `nightwiki check --repair`")], file.name
        assert file.name in str(degraded)
        file.write_bytes(whole)
    assert ask()[:2] == (expected, [])


def test_bytes_that_change_under_an_open_index_end_no_search(tmp_path: Path) -> None:
    """What breaks on them is answered from memory; the file of names is the one that is read as JSON."""
    snapshot = publish(tmp_path, Tables(WIKI))
    search = Engine([SearchedWiki("w", Snapshots(snapshot))])
    expected = search.search("freighter goods").hits
    with (snapshot.index_dir / "hit-values.npy").open("r+b") as file:
        file.seek(128)
        file.write(b"\xff" * 40)
    result = search.search("freighter goods")
    assert result.hits == expected and "hit-values.npy" in result.degraded[0].reason


def test_an_open_search_notices_the_repair(tmp_path: Path) -> None:
    """It stops telling of damage once the index was built anew."""
    snapshot = publish(tmp_path, Tables(WIKI))
    file = snapshot.index_dir / "page-docs.npy"
    file.write_bytes(b"torn")
    search = Engine([SearchedWiki("w", Snapshots(snapshot))])
    assert search.search("freighter").degraded and search.search("freighter").degraded
    shutil.rmtree(snapshot.index_dir)
    publish(tmp_path, Tables(WIKI))
    assert not search.search("freighter").degraded and search.search("freighter").hits


def test_damage_is_not_taken_over_into_the_next_index(tmp_path: Path) -> None:
    """An update from an altered index reads everything anew."""
    build_index(Tables(WIKI), {}, None, tmp_path / "first")
    file = tmp_path / "first" / "text-values.npy"
    file.write_bytes(flipped(file.read_bytes(), random.Random(1)))
    build_index(Tables(WIKI), {"pages": frozenset({"p0001"})}, tmp_path / "first", tmp_path / "second")
    build_index(Tables(WIKI), {}, None, tmp_path / "anew")
    for name in sorted(path.name for path in (tmp_path / "anew").iterdir()):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "anew" / name).read_bytes()


def committed(folder: Path, *pages: PageRecord) -> WikiState:
    state = WikiState(folder, folder / ".nightwiki", (), build_index, damage).open()
    vectors = tuple(EmbeddingRecord(one.id, "h", "m", b"\0" * 256) for one in pages)
    commit(state, f"r{len(pages)}", "ingest", (), Changes(pages=pages, embeddings=vectors), NOW)
    return state


def test_check_finds_a_damaged_index_and_repair_builds_it_anew(tmp_path: Path) -> None:
    """Also for who has the index open: the next question is answered from the new one."""
    state = committed(tmp_path, *(replace(one, path="") for one in WIKI))
    search = Engine([SearchedWiki("w", Reader(state.root))])
    whole = search.search("freighter").hits
    current = state.snapshots.current()
    assert current is not None and whole
    file = state.snapshots.layout.index(current.id) / "page-counts.npy"
    file.write_bytes(flipped(file.read_bytes(), random.Random(3)))
    told = [one for one in check(state) if one.check == "index"]
    assert len(told) == 1 and "page-counts.npy" in told[0].message
    assert any("search index" in line for line in repair(state))
    assert not [one for one in check(state) if one.check == "index"]
    assert Engine([SearchedWiki("w", Reader(state.root))]).search("freighter").hits == whole
    assert [one.name for one in file.parent.parent.iterdir()] == [current.id]


def test_a_snapshot_with_a_lost_file_is_answered_by_the_one_before(tmp_path: Path) -> None:
    """The answer names the file; with no snapshot left that is whole, the error does."""
    committed(tmp_path, WIKI[0])
    state = committed(tmp_path, *WIKI)
    current = state.snapshots.current()
    assert current is not None
    lost = state.snapshots.layout.segment(current.tables["pages"][-1])
    lost.unlink()
    result = Engine([SearchedWiki("w", Reader(state.root))]).search("freighter")
    assert [hit.title for hit in result.hits] == ["Freighter"]
    assert result.degraded[0].what == "snapshot" and lost.name in result.degraded[0].reason
