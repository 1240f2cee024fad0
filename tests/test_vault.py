"""The one gate: files change only from bytes that were seen, and a crash leaves the old or the new file whole."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import unicodedata
from pathlib import Path

import pytest

from config.errors import StateError
from storage.durable import sha256, temp_name
from storage.vault import Swap, Vault


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    return Vault(root, protected=("raw_sources",))


def names(vault: Vault) -> list[str]:
    return sorted(str(file.relative_to(vault.root)) for file in vault.root.rglob("*") if not file.is_dir())


def test_a_file_is_made_changed_and_removed(vault: Vault) -> None:
    """The three swaps, with folders made on the way and nothing left behind."""
    assert vault.swap("wiki/sub/a.md", None, b"A").refused == ""
    assert vault.swap("wiki/sub/a.md", digest(b"A"), b"B").refused == ""
    assert vault.read("wiki/sub/a.md") == b"B" and names(vault) == ["wiki/sub/a.md"]
    assert vault.swap("wiki/sub/a.md", digest(b"B"), None).refused == "" and names(vault) == []


@pytest.mark.parametrize("expected", [None, digest(b"seen")], ids=["new", "known"])
@pytest.mark.parametrize("content", [b"ours", None], ids=["write", "remove"])
def test_other_bytes_than_seen_are_never_replaced(vault: Vault, expected: str | None, content: bytes | None) -> None:
    """Whatever a person saved meanwhile stays."""
    (vault.root / "a.md").write_bytes(b"theirs")
    assert vault.swap("a.md", expected, content).refused
    assert vault.read("a.md") == b"theirs" and names(vault) == ["a.md"]


def test_a_save_during_the_write_wins(vault: Vault) -> None:
    """Between looking and taking the name the file is looked at once more."""
    def save(step: str) -> None:
        if step == "temps":
            (vault.root / "old.md").write_bytes(b"mine")
            (vault.root / "new.md").write_bytes(b"mine")
    (vault.root / "old.md").write_bytes(b"O")
    done = vault.swap_all([Swap("old.md", digest(b"O"), b"N"), Swap("new.md", None, b"N")], save)
    assert [bool(one.refused) for one in done] == [True, True]
    assert vault.read("old.md") == vault.read("new.md") == b"mine" and names(vault) == ["new.md", "old.md"]


def test_a_file_that_has_its_new_bytes_counts_as_landed(vault: Vault) -> None:
    """A resumed write is not a refusal, and does not touch the file."""
    (vault.root / "a.md").write_bytes(b"A")
    before = (vault.root / "a.md").stat().st_mtime_ns
    assert vault.swap("a.md", None, b"A").refused == "" and vault.swap("gone.md", digest(b"x"), None).refused == ""
    assert (vault.root / "a.md").stat().st_mtime_ns == before


def test_mode_is_kept(vault: Vault) -> None:
    """A file keeps its rights when its bytes change."""
    file = vault.root / "a.md"
    file.write_bytes(b"A")
    file.chmod(0o640)
    vault.swap("a.md", digest(b"A"), b"B")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize("path", ["", "/etc/x", "../x.md", "a/../../x.md", "a//b.md", "./a.md", "a\\b.md", "a\0.md",
                                  ".obsidian/x.json", "wiki/.hidden.md", "raw_sources/x.md", "bad\udcff.md"])
def test_paths_that_are_never_written(vault: Vault, path: str) -> None:
    """Nothing outside the vault, nothing hidden, nothing in the folders that are the person's alone."""
    assert vault.swap(path, None, b"x").refused
    assert names(vault) == []


def test_links_that_leave_the_vault_are_not_followed(vault: Vault, tmp_path: Path) -> None:
    """Neither a linked folder nor a linked file carries a write outside; a link within the vault is kept."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"A")
    (vault.root / "folder").symlink_to(outside)
    (vault.root / "file.md").symlink_to(outside / "a.md")
    (vault.root / "loop.md").symlink_to("loop.md")
    for path in ("folder/a.md", "folder/new.md", "file.md"):
        assert "leaves the vault" in vault.swap(path, digest(b"A"), b"B").refused
    assert vault.swap("loop.md", None, b"B").refused
    assert (outside / "a.md").read_bytes() == b"A" and [file.name for file in outside.iterdir()] == ["a.md"]
    (vault.root / "real.md").write_bytes(b"A")
    (vault.root / "alias.md").symlink_to("real.md")
    assert vault.swap("alias.md", digest(b"A"), b"B").refused == ""
    assert vault.read("real.md") == b"B" and (vault.root / "alias.md").is_symlink()


@pytest.mark.parametrize(("there", "wanted"), [
    ("Config.md", "config.md"), ("Schemas/a.md", "schemas/b.md"),
    (unicodedata.normalize("NFD", "café.md"), "café.md"), ("STRASSE.md", "straße.md"),
])
def test_names_that_other_systems_take_for_one_are_not_made(vault: Vault, there: str, wanted: str) -> None:
    """One file and one folder on any file system; a batch does not clash with itself either."""
    (vault.root / there).parent.mkdir(exist_ok=True)
    (vault.root / there).write_bytes(b"A")
    assert "but for case or Unicode form" in vault.swap(wanted, None, b"B").refused
    assert names(vault) == [there]
    done = vault.swap_all([Swap("Two.md", None, b"1"), Swap("two.md", None, b"2")])
    assert [bool(one.refused) for one in done] == [False, True]


def test_a_full_disk_leaves_every_file_whole(vault: Vault) -> None:
    """The error comes up, temp files are gone, and each file has its old or its new bytes."""
    def full(step: str) -> None:
        if step == "swapped:c.md":
            raise OSError(errno.ENOSPC, "No space left on device")
    swaps = [Swap(f"{name}.md", None, name.encode() * 9) for name in "abcde"]
    with pytest.raises(OSError, match="No space"):
        vault.swap_all(swaps, full)
    assert names(vault) == ["a.md", "b.md", "c.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_refuses_only_its_files(vault: Vault) -> None:
    """One locked folder does not stop a night."""
    (vault.root / "locked").mkdir()
    (vault.root / "locked").chmod(0o500)
    done = vault.swap_all([Swap("locked/a.md", None, b"A"), Swap("b.md", None, b"B")])
    assert "cannot be written" in done[0].refused and done[1].refused == ""


def test_a_name_too_long_refuses_only_its_file(vault: Vault) -> None:
    """What the file system does not take is told, and the rest is written."""
    done = vault.swap_all([Swap("x" * 300 + ".md", None, b"A"), Swap("b.md", None, b"B")])
    assert "cannot be" in done[0].refused and names(vault) == ["b.md"]


def test_a_thousand_files_in_one_batch(vault: Vault) -> None:
    """Many files are written side by side with the same guarantees."""
    done = vault.swap_all([Swap(f"d{n % 7}/{n}.md", None, b"%d" % n) for n in range(1000)])
    assert not any(one.refused for one in done)
    assert all(vault.read(f"d{n % 7}/{n}.md") == b"%d" % n for n in range(1000)) and len(names(vault)) == 1000


def test_only_our_temp_files_are_cleaned(vault: Vault) -> None:
    """What a killed write left is removed; a person's hidden files stay."""
    ours = temp_name()
    for name in (ours, ".nightwiki-notes.tmp", ".nightwiki-0123456789abcdeg.tmp", ".x.tmp"):
        (vault.root / name).write_bytes(b"x")
    assert vault.clean_temp([".", "missing"]) == (ours,)
    assert len(names(vault)) == 3


def test_a_scan_survives_what_people_have(vault: Vault, tmp_path: Path) -> None:
    """Loops, broken links and names that are no UTF-8 neither stop nor repeat a scan."""
    (vault.root / "a" / ".hidden").mkdir(parents=True)
    for path in ("a/one.md", "a/.hidden/x.md", "a/b.png", "TWO.MD"):
        (vault.root / path).write_bytes(b"xy")
    (vault.root / "a" / "loop").symlink_to(vault.root)
    (vault.root / "broken.md").symlink_to("nowhere.md")
    (vault.root / "folder.md").mkdir()
    (vault.root / os.fsdecode(b"bad\xff.md")).write_bytes(b"x")
    scan = vault.scan()
    assert sorted(scan.files) == ["TWO.MD", "a/one.md"] and scan.files["TWO.MD"].size == 2
    assert [problem.reason for problem in scan.problems] == ["its name is not valid UTF-8"]
    assert sorted(vault.stat("a", ())) == ["a/b.png", "a/one.md"]
    assert vault.stat("missing") == {}


def test_a_missing_vault_is_not_an_empty_one(tmp_path: Path) -> None:
    """An unmounted disk must not look as if every page had been deleted."""
    with pytest.raises(StateError, match="mounted"):
        Vault(tmp_path / "gone").stat()


def test_a_read_only_file_is_not_written(tmp_path: Path) -> None:
    """A person who takes the right to write away wants it as it is; a rename would go past that."""
    (tmp_path / "a.md").write_bytes(b"old")
    (tmp_path / "a.md").chmod(0o444)
    vault = Vault(tmp_path)
    for content in (b"new", None):
        assert vault.swap("a.md", sha256(b"old"), content).refused == "the file is read-only"
    assert vault.swap("a.md", None, b"old").refused == "" and (tmp_path / "a.md").read_bytes() == b"old"
