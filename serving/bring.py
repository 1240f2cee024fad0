"""Turns what a person names on the command line into locations of sources: files are copied in, addresses are listed.

A file outside the vault is copied into the sources folder, never moved; the same bytes that are there already are not
copied again. An address that no list names yet is added to the list of links.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.consistency import inside
from config.errors import NightwikiError
from config.globs import matches
from config.wiki import Wiki
from serving.link_list import with_link
from storage.durable import sha256
from storage.vault import Vault
from tasks.sources.addresses import identify


@dataclass(frozen=True, slots=True)
class Brought:
    """Locations to read, and what had to be done for them, as sentences."""

    locations: tuple[str, ...]
    done: tuple[str, ...]
    writes: tuple[str, ...]  # vault paths


def bring(wiki: Wiki, names: Sequence[str], known: Sequence[str], dry_run: bool = False) -> Brought:
    """Make each name a source of the wiki: an address, a file, a folder, or a location that is `known` already."""
    locations: list[str] = []
    done: list[str] = []
    writes: list[str] = []
    for name in names:
        if name in known:
            found = Brought((name,), (), ())
        elif "://" in name:
            found = _address(wiki, name, known, dry_run)
        else:
            found = _path(wiki, Path(name), dry_run)
        locations += found.locations
        done += found.done
        writes += found.writes
    return Brought(tuple(dict.fromkeys(locations)), tuple(done), tuple(writes))


def _address(wiki: Wiki, name: str, known: Sequence[str], dry_run: bool) -> Brought:
    address = identify(name)
    if address.location in known:
        return Brought((address.location,), (), ())
    vault = Vault(wiki.root)
    path = wiki.source_list
    before = vault.read(path) if (wiki.root / path).exists() else None
    try:
        listed = before.decode("utf-8") if before else ""
    except UnicodeDecodeError:
        raise NightwikiError(path, "is not UTF-8 text, so nothing can be added to it", "Save it as UTF-8.") from None
    text = with_link(listed, address, path)
    if before is not None and text.encode() == before:
        return Brought((address.location,), (), ())
    if not dry_run:
        _write(vault, path, before, text.encode())
    verb = "would add" if dry_run else "added"
    return Brought((address.location,), (f"{verb} {address.location} to {path}",), (path,))


def _path(wiki: Wiki, path: Path, dry_run: bool) -> Brought:
    full = path.expanduser().absolute()
    if not full.exists():
        raise NightwikiError(str(path), "there is no such file, folder or known source", "See: nightwiki sources list")
    real = full.resolve()
    if real.is_relative_to(wiki.root):
        return _within(wiki, real)
    if full.is_dir():
        files = sorted(one for one in full.rglob("*") if one.is_file() and not _hidden(one, full))
        parts = [_copy(wiki, one, f"{full.name}/{one.relative_to(full).as_posix()}", dry_run) for one in files]
    else:
        parts = [_copy(wiki, full, full.name, dry_run)]
    return Brought(
        tuple(place for part in parts for place in part.locations),
        tuple(line for part in parts for line in part.done),
        tuple(write for part in parts for write in part.writes),
    )


def _hidden(path: Path, top: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(top).parts)


def _within(wiki: Wiki, real: Path) -> Brought:
    """A path in the vault is a source only if the settings say so."""
    settings = wiki.settings
    place = unicodedata.normalize("NFC", real.relative_to(wiki.root).as_posix())
    is_source = any(inside(place, folder) for folder in (wiki.sources_dir, *settings.sources.clips))
    if not is_source and not matches(place, settings.adopt.sources):
        step = f"Move it into {wiki.sources_dir}/, or name it under adopt.sources in nightwiki.yaml."
        raise NightwikiError(place, "lies in the vault but is not one of its sources", step)
    if real.is_dir():
        files = sorted(one for one in real.rglob("*") if one.is_file() and not _hidden(one, real))
        return Brought(tuple(one.relative_to(wiki.root).as_posix() for one in files), (), ())
    return Brought((real.relative_to(wiki.root).as_posix(),), (), ())


def _copy(wiki: Wiki, file: Path, name: str, dry_run: bool) -> Brought:
    vault = Vault(wiki.root)
    content = file.read_bytes()
    path = _target(vault, f"{wiki.sources_dir}/{name}", sha256(content))
    if vault.hash(path) is not None:
        return Brought((path,), (f"{file} is in {path} already",), ())
    if not dry_run:
        _write(vault, path, None, content)
    return Brought((path,), (f"{'would copy' if dry_run else 'copied'} {file} to {path}",), (path,))


def _target(vault: Vault, path: str, content_hash: str) -> str:
    """A name that is free, or that holds these very bytes."""
    stem, dot, suffix = path.rpartition(".")
    for number in range(1, 10_000):
        tried = path if number == 1 else f"{stem} {number}{dot}{suffix}" if dot else f"{path} {number}"
        if vault.hash(tried) in (None, content_hash):
            return tried
    raise NightwikiError(path, "has ten thousand namesakes", "Rename the file before you bring it in.")


def _write(vault: Vault, path: str, before: bytes | None, content: bytes) -> None:
    done = vault.swap(path, None if before is None else sha256(before), content)
    if done.refused:
        raise NightwikiError(str(vault.root / path), done.refused, "Try again.")
