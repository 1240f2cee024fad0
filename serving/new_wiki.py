"""Makes a wiki of a folder: a skeleton in a new one, the demo, or nothing but settings in one that holds notes.

A folder with notes is somebody's: it is looked at, a plan is shown, and only `nightwiki.yaml` and the state folder
are made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from config.consistency import tidy
from config.defaults import render_settings
from config.errors import NightwikiError
from config.settings import Adopt, Embedding, Pages, Settings, Sources
from config.wiki import SETTINGS_NAME, enclosing, open_wiki
from storage.durable import write_file
from storage.vault import Swap, Vault

OFFLINE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
Kind = Literal["new", "demo", "adopt"]

_PURPOSE = """# Purpose

Say in a few lines what this wiki is for and what belongs into it. nightwiki never changes this note.
"""
_INBOX = """# Inbox

Paste links below, one a line or in running text; the next night reads them. nightwiki never changes this note.

"""
_SOURCE_LIST = """# Links, videos and feeds that the wiki is made from. nightwiki adds to this list only when you say
# `nightwiki ingest ADDRESS`, and never removes anything.
#
# links:
#   - https://example.org/an-article
#   - url: https://example.org/another
#     title: A title of your own
# videos:
#   - https://www.youtube.com/watch?v=aaaaaaaaaaa
# feeds:
#   - https://example.org/feed.xml
"""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that init makes; none that exists is touched."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """What init would do in a folder."""

    root: Path
    kind: Kind
    notes: int  # that are there already
    settings: Settings
    files: tuple[NewFile, ...]


def plan(target: Path, demo: bool = False) -> Plan:
    """What init would do, without doing it. Raises NightwikiError where a wiki cannot be made."""
    root = target.expanduser().resolve()
    if root.exists() and not root.is_dir():
        raise NightwikiError(str(root), "is a file, not a folder", "Name a folder.")
    outer = enclosing(root)
    if outer == root:
        raise NightwikiError(str(root), "is a wiki already", f"Fill it with: nightwiki -w {root} ingest")
    if outer:
        raise NightwikiError(str(root), f"lies inside the wiki at {outer}", "Wikis cannot hold one another.")
    notes = _notes(root)
    adopt = bool(notes) or (root / ".obsidian").is_dir()
    if adopt and demo:
        raise NightwikiError(str(root), "holds notes, and the demo wants a folder of its own", "Name a new folder.")
    base = Settings(name=_name(root), time_zone=_time_zone())
    if adopt:
        settings = base.model_copy(update=_adopted(root, notes))
        return Plan(root, "adopt", len(notes), settings, (_settings_file(settings),))
    if demo:
        settings = base.model_copy(update={"embedding": Embedding(model=OFFLINE_MODEL)})
        brought = [NewFile(name, content) for name, content in _tree(resources.files("config") / "data" / "demo")]
        names = {file.path for file in brought}
        usual = [file for file in (_settings_file(settings), *_skeleton(settings)) if file.path not in names]
        return Plan(root, "demo", 0, settings, _missing(root, (*usual, *brought)))
    return Plan(root, "new", 0, base, _missing(root, (_settings_file(base), *_skeleton(base))))


def carry_out(planned: Plan) -> tuple[str, ...]:
    """Make the wiki; the paths written. Raises NightwikiError when a file appeared meanwhile."""
    planned.root.mkdir(parents=True, exist_ok=True)
    swaps = [Swap(file.path, None, file.content) for file in planned.files]
    for done in Vault(planned.root).swap_all(swaps):
        if done.refused:
            raise NightwikiError(
                str(planned.root / done.path), done.refused, "Nothing of yours was changed; try again."
            )
    wiki = open_wiki(planned.root)
    ignore = wiki.state_dir / ".gitignore"
    if not ignore.exists():
        write_file(ignore, [b"*\n"])
    return tuple(file.path for file in planned.files)


def _settings_file(settings: Settings) -> NewFile:
    return NewFile(SETTINGS_NAME, render_settings(settings).encode())


def _skeleton(settings: Settings) -> Iterator[NewFile]:
    yield NewFile("purpose.md", _PURPOSE.encode())
    yield NewFile(settings.sources.inbox, _INBOX.encode())
    yield NewFile(settings.sources.list, _SOURCE_LIST.encode())


def _missing(root: Path, files: tuple[NewFile, ...]) -> tuple[NewFile, ...]:
    return tuple(file for file in files if not (root / file.path).exists())


def _tree(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.startswith((".", "__")) or entry.name.endswith(".py"):
            continue
        if entry.is_dir():
            yield from _tree(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_bytes()


def _notes(root: Path) -> tuple[str, ...]:
    """Markdown files by vault path; a wiki further below is refused."""
    found = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        if SETTINGS_NAME in files and Path(folder) != root:
            raise NightwikiError(str(root), f"holds the wiki at {folder}", "Wikis cannot hold one another.")
        place = Path(folder).relative_to(root).as_posix()
        found += [tidy(f"{place}/{name}") for name in files if name.lower().endswith(".md") and name[0] != "."]
    return tuple(sorted(found))


def _adopted(root: Path, notes: tuple[str, ...]) -> dict[str, object]:
    """Settings that keep nightwiki's own folders apart from what is there, and take the notes folder by folder."""
    taken = {entry.name.casefold() for entry in root.iterdir()}
    pages = Pages(dir=_free("wiki", taken), evidence=_free("evidence", taken))
    folder = _free("raw_sources", taken)
    sources = Sources(dir=folder, list=f"{folder}/sources.yaml", inbox=f"{folder}/inbox.md")
    ignored = [*_templates(root)]
    if any(note.endswith(".excalidraw.md") for note in notes):
        ignored.append("**/*.excalidraw.md")
    clips = {clip.casefold() for clip in sources.clips}
    tops = sorted({note.split("/")[0] for note in notes if "/" in note})
    left_out = {glob.removesuffix("/**").casefold() for glob in ignored}
    globs = [f"{top}/**" for top in tops if top.casefold() not in clips | left_out]
    if any("/" not in note for note in notes):
        globs.append("*.md")
    return {"pages": pages, "sources": sources, "adopt": Adopt(pages=tuple(globs), ignored=tuple(ignored))}


def _free(name: str, taken: set[str]) -> str:
    """A folder name that the vault does not use yet."""
    return next(
        one
        for one in (name, f"nightwiki {name}", *(f"{name} {n}" for n in range(2, 99)))
        if one.casefold() not in taken
    )


def _templates(root: Path) -> Iterator[str]:
    """Folders of templates, as Obsidian and the Templater plugin name them, or by their usual names."""
    named = [
        _read_key(root / ".obsidian" / "templates.json", "folder"),
        _read_key(root / ".obsidian" / "plugins" / "templater-obsidian" / "data.json", "templates_folder"),
        *(entry.name for entry in root.iterdir() if entry.name.casefold().strip("_") in ("templates", "template")),
    ]
    seen = dict.fromkeys(tidy(name.strip("/")) for name in named if name.strip("/ "))
    yield from (f"{name}/**" for name in seen if (root / name).is_dir())


def _read_key(path: Path, key: str) -> str:
    try:
        value = json.loads(path.read_text(encoding="utf-8")).get(key, "")
    except (OSError, ValueError, AttributeError):
        return ""
    return value if isinstance(value, str) else ""


def _name(root: Path) -> str:
    """The folder's name, without what Prefect does not take in names."""
    kept = "".join(letter for letter in root.name if letter.isprintable() and letter not in "/%&<>")
    return " ".join(kept.split()) or "wiki"


def _time_zone() -> str:
    """The machine's own time zone where it says so, else UTC."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if "/" in named and not named.startswith("/"):
        return named
    _, found, zone = os.path.realpath("/etc/localtime").rpartition("/zoneinfo/")
    return zone if found and zone != "Etc/UTC" else "UTC"
