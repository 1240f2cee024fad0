"""The index folder: what it is made from, how it follows changes, and that a torn one is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from config.errors import StateError
from storage.commit import commit
from storage.search.index_files import open_index
from storage.search.search_index import build_index
from storage.state import WikiState
from tasks.commits import Changes
from tasks.crew import Crew
from tasks.records import Chunk, ChunksRecord, EmbeddingRecord, PageRecord
from tests.search_wiki import Tables, page

TEXTS = st.sampled_from(
    ["zebra horse", "horse [[a|zebra]]", "## H\n\n漢字 disk", "", "C++ user_id\n\n[^1]: zebra"]
)
PAGES = st.dictionaries(st.integers(0, 6), TEXTS, max_size=6)
VECTORS = st.dictionaries(
    st.integers(0, 6), st.tuples(st.sampled_from(["m@1", "n@2"]), st.integers(0, 3)), max_size=6
)
CHUNKS = st.dictionaries(st.sampled_from(["sa", "sb", "sc"]), st.lists(TEXTS, max_size=3), max_size=3)


def tables(
    pages: dict[int, str], vectors: dict[int, tuple[str, int]], chunks: dict[str, list[str]]
) -> Tables:
    return Tables(
        [page(number, f"Page {number}", text, tags=(text[:1] or "none",)) for number, text in pages.items()],
        [
            EmbeddingRecord(f"p{number:04d}", "h", model, bytes([value, 0, 0, 63]) * 2)
            for number, (model, value) in vectors.items()
        ],
        [
            ChunksRecord(source, tuple(Chunk(place, ("T",), text, "^p1") for place, text in enumerate(texts)))
            for source, texts in chunks.items()
        ],
    )


def changed(
    before: dict[object, object], after: dict[object, object], name: str = "p{:04d}"
) -> frozenset[str]:
    keys = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    return frozenset(name.format(key) for key in keys)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example({1: "zebra"}, {0: "zebra", 1: "zebra"}, {}, {}, {}, {})  # a new page right before the first old one
@given(PAGES, PAGES, VECTORS, VECTORS, CHUNKS, CHUNKS)
def test_an_updated_index_equals_one_built_anew(
    tmp_path: Path,
    pages: dict,
    later: dict,
    vectors: dict,
    later_vectors: dict,
    chunks: dict,
    later_chunks: dict,  # type: ignore[type-arg]
) -> None:
    """Byte for byte, whatever was added, changed or dropped."""
    shutil.rmtree(tmp_path)
    after = tables(later, later_vectors, later_chunks)
    build_index(tables(pages, vectors, chunks), {}, None, tmp_path / "first")
    touched = {
        "pages": changed(pages, later),
        "embeddings": changed(vectors, later_vectors),
        "chunks": changed(chunks, later_chunks, "{}"),
    }
    build_index(after, touched, tmp_path / "first", tmp_path / "updated")
    build_index(after, {}, None, tmp_path / "anew")
    assert contents(tmp_path / "updated") == contents(tmp_path / "anew")


def test_deleted_pages_are_not_in_it(tmp_path: Path) -> None:
    """A row that only remembers a deletion is no page."""
    rows: list[PageRecord] = [page(1, "A", "a"), replace(page(2, "B", "b"), deleted="2026-11-30T00:00:00Z")]
    build_index(Tables(rows), {}, None, tmp_path / "index")
    assert open_index(tmp_path / "index").page_ids.all() == [b"p0001"]


def test_footnotes_and_link_targets_are_not_the_pages_words(tmp_path: Path) -> None:
    """A quotation in a footnote does not make a page about its words."""
    build_index(
        Tables([page(1, "A", "see [[target-slug|label]]\n\n[^1]: quoted")]), {}, None, tmp_path / "index"
    )
    pages = open_index(tmp_path / "index").pages
    assert [len(pages.of_term(term)[0]) for term in ("label", "target-slug", "quot")] == [1, 0, 0]


@pytest.mark.parametrize("name", ["page-docs.npy", "text-values.npy", "manifest.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    """The error says which file."""
    build_index(Tables([page(1, "A", "a")]), {}, None, tmp_path / "index")
    (tmp_path / "index" / name).unlink()
    with pytest.raises(StateError, match=name):
        open_index(tmp_path / "index")


def test_a_torn_file_is_named(tmp_path: Path) -> None:
    """A file that lost its end is not read."""
    build_index(Tables([page(1, "A", "a")]), {}, None, tmp_path / "index")
    file = tmp_path / "index" / "page-docs.npy"
    file.write_bytes(file.read_bytes()[:-2])
    with pytest.raises(StateError, match=r"page-docs\.npy"):
        open_index(tmp_path / "index")


def test_a_torn_former_index_is_built_anew(tmp_path: Path) -> None:
    """An update does not lean on a damaged folder."""
    wiki = Tables([page(1, "A", "a"), page(2, "B", "b")])
    build_index(wiki, {}, None, tmp_path / "first")
    (tmp_path / "first" / "page-docs.npy").unlink()
    build_index(wiki, {"pages": frozenset({"p0001"})}, tmp_path / "first", tmp_path / "second")
    assert len(open_index(tmp_path / "second").page_ids) == 2


def test_processes_of_their_own_build_the_same_index(tmp_path: Path) -> None:
    """Each side in another process, from the published files, byte for byte; so does the update on top."""
    state = WikiState(tmp_path, tmp_path / ".nightwiki").open()
    with Crew(2, few=1) as crew:
        crew.start(2)
        state.snapshots.build_index = partial(build_index, each=crew.each)
        for turn in range(2):
            pages = tuple(page(n, f"Machine {turn}", f"{n} relays and {turn} drums.") for n in range(1, 4 + turn))
            chunks = (ChunksRecord("s1", (Chunk(0, ("Top",), f"Drum {turn}", "^p1"),)),)
            commit(state, f"r{turn}", "ingest", (), Changes(pages=pages, chunks=chunks), "2026-05-01T02:00:00Z")
            snapshot = state.reader.current()
            assert snapshot is not None and snapshot.manifest.indexed
            build_index(snapshot, {}, None, tmp_path / f"here{turn}")
            assert contents(snapshot.index_dir) == contents(tmp_path / f"here{turn}")
