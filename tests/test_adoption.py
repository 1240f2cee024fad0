"""A vault that was there before: searched and linked to, and never written, whatever runs over it."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from config.wiki import open_wiki
from flows.night import sync
from flows.session import open_state
from flows.steps import DirectRunner
from flows.undo import undo
from serving.new_wiki import carry_out, plan
from tests.wikis import ENIAC, put, run


def _hashes(root: Path) -> dict[str, str]:
    """Hashes of all notes and attachments of a person."""
    ours = {".nightwiki", "wiki", "evidence", "raw_sources"}
    files = (path for path in root.rglob("*") if path.is_file() and path.name != "nightwiki.yaml")
    relative = ((path, path.relative_to(root)) for path in files)
    return {
        str(name): hashlib.sha256(path.read_bytes()).hexdigest() for path, name in relative if name.parts[0] not in ours
    }


def _adopt(root: Path) -> None:
    carry_out(plan(root, demo=False))
    settings = root / "nightwiki.yaml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("vector: auto", "vector: off").replace("settle_seconds: 2.0", "settle_seconds: 0"))


def test_notes_of_every_shape_are_never_written(tmp_path: Path) -> None:
    """Odd properties, odd bytes and odd names pass through init, nights, syncs and undo untouched."""
    root = tmp_path / "vault"
    put(root, "Notes/A.md", "\ufeff---\ntitle: NO\nat: 12:30\n---\r\nENIAC and [[B|b]]\r\n")
    put(root, "Notes/B.md", "---\nACME Ltd\n1 High St\n---\nDear all")
    (root / "Notes/latin.md").write_bytes(b"caf\xe9 \xff\xfe no end of line")
    put(root, "日記/今日.md", "#tag\n\n- [ ] 買い物")
    put(root, ".obsidian/app.json", "{}")
    before = _hashes(root)
    _adopt(root)
    put(root, "raw_sources/machine.md", ENIAC)
    wiki = open_wiki(root)
    first = run(wiki)
    put(root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    sync(wiki, DirectRunner(), "2026-03-03T02:00:00Z")
    undo(wiki, first.run, "2026-03-04T02:00:00Z", since=True)
    assert not (root / "wiki/eniac.md").exists()
    assert first.created == 1 and _hashes(root) == before
    adopted = [page.path for page in open_state(wiki).ledger.pages().values() if page.adopted]
    assert sorted(adopted) == ["Notes/A.md", "Notes/B.md", "Notes/latin.md", "日記/今日.md"]


def test_a_moved_note_keeps_its_identity_by_its_bytes(tmp_path: Path) -> None:
    """Notes carry no id of ours, so path and then exact bytes say which is which."""
    root = tmp_path / "vault"
    put(root, "Notes/A.md", "Only here.\n")
    _adopt(root)
    wiki = open_wiki(root)
    run(wiki)
    (before,) = open_state(wiki).ledger.pages().values()
    (root / "Notes/A.md").rename(root / "Notes/Z.md")
    run(wiki, 2)
    (after,) = open_state(wiki).ledger.pages().values()
    assert (before.id, after.path) == (after.id, "Notes/Z.md")


def test_a_real_vault_of_173_notes_is_left_alone(tmp_path: Path, shared: Path) -> None:
    """Obsidian's own help vault, before and after init and two nights."""
    root = tmp_path / "help"
    with zipfile.ZipFile(shared / "vaults/obsidian-help-en.zip") as vault:
        vault.extractall(root)
    before = _hashes(root)
    _adopt(root)
    put(root, "raw_sources/machine.md", ENIAC)
    wiki = open_wiki(root)
    run(wiki)
    run(wiki, 2)
    assert _hashes(root) == before
    assert sum(page.adopted for page in open_state(wiki).ledger.pages().values()) == 173
