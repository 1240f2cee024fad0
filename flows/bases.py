"""The Bases that come with a wiki: written once, kept up while they are as written, and a person's once changed."""

from __future__ import annotations

from config.wiki import Wiki
from storage.state import WikiState
from tasks.commits import FileWrite
from tasks.review import bases
from tasks.text_bytes import digest, encode


def candidates_base(wiki: Wiki, state: WikiState) -> tuple[FileWrite, ...]:
    """The write of the Base of waiting pages, if one is due."""
    return _due(state, f"{wiki.candidates_dir}/{bases.CANDIDATES}", bases.candidates(wiki.candidates_dir))


def attention_base(wiki: Wiki, state: WikiState) -> tuple[FileWrite, ...]:
    """The write of the Base of stale, contradicted and doubtful pages, if one is due."""
    path = bases.ATTENTION if wiki.pages_dir == "." else f"{wiki.pages_dir}/{bases.ATTENTION}"
    return _due(state, path, bases.attention(wiki.pages_dir, wiki.candidates_dir))


def _due(state: WikiState, path: str, text: str) -> tuple[FileWrite, ...]:
    """A Base that was never written is due, and one that is still as we wrote it; never one that a person deleted."""
    content = encode(text)
    there = state.vault.hash(path)
    if there is None:
        return () if state.runs.deleted_by_person(path) else (FileWrite(path, None, content),)
    written = state.runs.audit(path=path)
    ours = bool(written) and written[-1].after == there
    return (FileWrite(path, there, content),) if ours and there != digest(content) else ()
