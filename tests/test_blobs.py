"""Bytes by their hash."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import StateError
from storage.blobs import LARGE, Blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


LARGE_BYTES = random.Random(1).randbytes(LARGE)


@settings(max_examples=30, deadline=None)
@given(contents=st.lists(st.binary(max_size=300) | st.sampled_from([b"text " * 500, LARGE_BYTES, b"x" * LARGE])))
def test_what_is_put_can_be_got(tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]) -> None:
    """Every blob comes back, by this object, by a later one, and as a file."""
    blobs = Blobs(tmp_path_factory.mktemp("blobs"))
    hashes = [blobs.put(content) for content in contents]
    assert [blobs.get(one) for one in hashes] == contents
    later = Blobs(blobs.folder)
    assert [later.path(one).read_bytes() for one in hashes] == contents
    assert set(later.all()) == set(hashes) and list(later.damaged()) == []
    blobs.close()


def test_text_is_compressed_and_small_blobs_share_a_file(blobs: Blobs) -> None:
    """A thousand documents are one file, a fraction of their size."""
    for number in range(1000):
        blobs.put(f"document {number} ".encode() * 200)
    (pack,) = (blobs.folder / "packs").iterdir()
    assert pack.stat().st_size < 200_000
    blobs.close()


@pytest.mark.parametrize("content", [b"text " * 500, LARGE_BYTES], ids=["packed", "file"])
def test_damage_is_found_named_and_mended(blobs: Blobs, content: bytes) -> None:
    """A flipped bit is an error that names the blob; putting the same bytes again mends it."""
    digest = blobs.put(content)
    blobs.close()
    file = next(file for file in blobs.folder.rglob("*") if file.is_file())
    flipped = bytearray(file.read_bytes())
    flipped[-9] ^= 1
    file.write_bytes(flipped)
    fresh = Blobs(blobs.folder)
    with pytest.raises(StateError, match=digest):
        fresh.get(digest)
    assert [one for one, _ in fresh.damaged()] == [digest]
    assert fresh.put(content) == digest and Blobs(blobs.folder).get(digest) == content
    fresh.close()


def test_a_torn_pack_keeps_what_came_before(blobs: Blobs) -> None:
    """A frame that a crash cut off is ignored; the frames before it stay."""
    first, second = blobs.put(b"one"), blobs.put(b"two" * 100)
    blobs.close()
    (pack,) = (blobs.folder / "packs").iterdir()
    os.truncate(pack, pack.stat().st_size - 5)
    fresh = Blobs(blobs.folder)
    assert fresh.get(first) == b"one" and second not in fresh
    with pytest.raises(StateError, match="missing"):
        fresh.get(second)


def test_what_another_process_puts_is_seen(blobs: Blobs) -> None:
    """An open store notices blobs that were added beside it."""
    blobs.put(b"mine")
    other = Blobs(blobs.folder)
    digest = other.put(b"theirs")
    assert blobs.get(digest) == b"theirs"
    blobs.close()
    other.close()


def test_unnamed_blobs_are_collected(blobs: Blobs) -> None:
    """What nothing refers to goes; what is named, or young, stays."""
    keep = [blobs.put(b"keep %d" % number) for number in range(2)] + [blobs.put(LARGE_BYTES)]
    for number in range(50):
        blobs.put(b"drop %d" % number)
    blobs.put(b"y" * LARGE)
    assert blobs.collect(keep, 0) == 0
    assert blobs.collect(keep, time.time_ns() + 10**9) == 51
    assert sorted(Blobs(blobs.folder).all()) == sorted(keep)
    assert blobs.get(keep[0]) == b"keep 0" and blobs.get(blobs.put(b"drop 7")) == b"drop 7"
    blobs.close()
