"""A wiki on disk for the measuring of servers: titled texts as a person's notes, taken in by a sync, embedded once."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import Corpus
from config.wiki import Wiki, open_wiki
from flows.night import sync
from flows.session import open_state
from flows.steps import DirectRunner, utc_now
from storage.commit import commit
from tasks.commits import Changes
from tasks.embedding import embed
from tasks.embedding.embed import Embedder
from tasks.records import EmbeddingRecord, PageRecord

ROOT = Path(__file__).resolve().parents[1]
_SETTINGS = """name: bench
pages:
  dir: wiki
adopt:
  pages: [notes/**]
search:
  vector: {vector}
embedding:
  model: {model}
sources:
  settle_seconds: 0
prefect:
  mode: none
"""


def make_wiki(corpus: Corpus, embedder: Embedder, root: Path) -> Wiki:
    """The corpus as a wiki in `root`; each text is a note."""
    (root / "notes").mkdir(parents=True)
    (root / "raw_sources").mkdir()
    for number, one in enumerate(corpus.documents):
        text = f"---\ntitle: {json.dumps(one.title)}\n---\n\n# {one.title}\n\n{one.text}\n"
        (root / "notes" / f"n{number:05d}.md").write_text(text, encoding="utf-8")
    name = embedder.model.partition("@")[0]
    (root / "nightwiki.yaml").write_text(_SETTINGS.format(vector="off", model=name), encoding="utf-8")
    sync(open_wiki(root), DirectRunner(), utc_now())
    (root / "nightwiki.yaml").write_text(_SETTINGS.format(vector="auto", model=name), encoding="utf-8")
    wiki = open_wiki(root)
    state = open_state(wiki)
    snapshot = state.reader.current()
    assert snapshot is not None
    pages = [row for row in snapshot.rows("pages") if isinstance(row, PageRecord) and not row.deleted]
    length = wiki.settings.embedding.max_tokens
    texts = [embed.page_text(page.title, page.tags, page.markdown, length) for page in pages]
    rows = tuple(
        EmbeddingRecord(page.id, embed.text_hash(text, embedder.model), embedder.model, vector.astype("<f4").tobytes())
        for page, text, vector in zip(pages, texts, embedder.embed(texts), strict=True)
    )
    with state.run_lock(), state.write_lock():
        commit(state, "bench", "bench", (), Changes(embeddings=rows), utc_now())
    state.close()
    return wiki


@dataclass(frozen=True, slots=True)
class Serving:
    """A server of its own process."""

    url: str
    pid: int
    started: float  # `time.perf_counter()` when its process was begun


@contextlib.contextmanager
def serving(root: Path, log: Path) -> Iterator[Serving]:
    """`nightwiki serve` over a wiki, ended with SIGTERM."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "serving.cli", "serve", "--port", "0", "-w", str(root)]
    with log.open("ab") as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, env={**os.environ})
        try:
            assert process.stdout is not None
            line = process.stdout.readline().decode()
            url = line.partition(" on ")[2].split()[0]
            yield Serving(url, process.pid, started)
        finally:
            process.terminate()
            process.wait(30)


def fetch(url: str) -> dict[str, object]:
    """The JSON at an address."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        told: dict[str, object] = json.load(answer)
        return told
