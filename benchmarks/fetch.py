"""Brings public retrieval sets from their homes, for people with network: BEIR's archives, and C-MTEB's on the
hub.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import sys
import zipfile
from pathlib import Path

import httpx

from benchmarks.corpora import lines

_BEIR = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/{name}.zip"
_HOTPOT = "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json"
_HUB = "https://huggingface.co/datasets/{repository}/resolve/refs%2Fconvert%2Fparquet/default/{file}/0000.parquet"
_HOTPOT_QUESTIONS = 500
_DU_PASSAGES = 3_000
_DU_QUESTIONS = 300


def fetch_all(folder: Path) -> int:
    """Fills `folder` with scifact, nfcorpus, hotpotqa and duretrieval in BEIR form; 1 when one could not be had.

    A set appears whole or not at all; one that failed is told in a line.
    """
    failed = 0
    for name, fetch in (("scifact", _beir), ("nfcorpus", _beir), ("hotpotqa", _hotpot), ("duretrieval", _du)):
        target = folder / name
        if (target / "qrels.tsv").is_file():
            print(f"{name}: there already")
            continue
        part = folder / f".{name}.part"
        try:
            shutil.rmtree(part, ignore_errors=True)
            fetch(name, part)
            shutil.rmtree(target, ignore_errors=True)
            part.rename(target)
            print(f"{name}: {target}")
        except _NotFetched as error:
            failed = 1
            print(f"{name}: could not be fetched from {error}", file=sys.stderr)
        except (zipfile.BadZipFile, OSError, LookupError, ValueError, TypeError) as error:
            failed = 1
            print(f"{name}: what its home sent could not be used: {_line(error)}", file=sys.stderr)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return failed


class _NotFetched(Exception):
    """The home of a set did not give it; its text names the host and the cause."""


def _get(url: str) -> bytes:
    try:
        with httpx.Client(follow_redirects=True, timeout=httpx.Timeout(120, connect=15)) as client:
            answer = client.get(url)
            answer.raise_for_status()
            return answer.content
    except httpx.HTTPStatusError as error:
        raise _NotFetched(f"{httpx.URL(url).host}: it answered {error.response.status_code}") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise _NotFetched(f"{httpx.URL(url).host}: {_line(error)}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _beir(name: str, target: Path) -> None:
    archive = zipfile.ZipFile(io.BytesIO(_get(_BEIR.format(name=name))))
    target.mkdir(parents=True, exist_ok=True)
    for file in ("corpus.jsonl", "queries.jsonl"):
        (target / f"{file}.gz").write_bytes(gzip.compress(archive.read(f"{name}/{file}"), mtime=0))
    (target / "qrels.tsv").write_bytes(archive.read(f"{name}/qrels/test.tsv"))


def _hotpot(name: str, target: Path) -> None:
    """500 questions of the distractor setting over all of their paragraphs; the two supporting ones are relevant."""
    rows = json.loads(_get(_HOTPOT))
    chosen = random.Random(13).sample(rows, _HOTPOT_QUESTIONS)
    ids: dict[str, str] = {}
    corpus, queries, qrels = [], [], []
    for row in chosen:
        supporting = {title for title, _ in row["supporting_facts"]}
        queries.append({"_id": row["_id"], "text": row["question"]})
        for title, sentences in row["context"]:
            if title not in ids:
                ids[title] = f"p{len(ids)}"
                corpus.append({"_id": ids[title], "title": title, "text": "".join(sentences)})
            if title in supporting:
                qrels.append((row["_id"], ids[title], 1))
    _write(target, corpus, queries, qrels)


def _du(name: str, target: Path) -> None:
    """300 questions and 3,000 passages of DuRetrieval: those that answer, filled up with others' answers."""
    import pyarrow.parquet as pq

    def table(repository: str, split: str) -> list[dict[str, object]]:
        content = _get(_HUB.format(repository=repository, file=split))
        rows: list[dict[str, object]] = pq.read_table(io.BytesIO(content)).to_pylist()
        return rows

    corpus = table("C-MTEB/DuRetrieval", "corpus")
    queries = table("C-MTEB/DuRetrieval", "queries")
    judged = table("C-MTEB/DuRetrieval-qrels", "dev")
    asked = random.Random(13).sample(sorted(str(row["id"]) for row in queries), _DU_QUESTIONS)
    qrels = [(str(row["qid"]), str(row["pid"]), 1) for row in judged if str(row["qid"]) in set(asked)]
    needed = {document for _, document, _ in qrels}
    others = sorted({str(row["pid"]) for row in judged} - needed)
    random.Random(17).shuffle(others)
    kept = needed | set(others[: max(0, _DU_PASSAGES - len(needed))])
    _write(
        target,
        [
            {"_id": str(row["id"]), "title": "", "text": str(row["text"])}
            for row in corpus
            if str(row["id"]) in kept
        ],
        [
            {"_id": str(row["id"]), "text": str(row["text"])}
            for row in queries
            if str(row["id"]) in set(asked)
        ],
        qrels,
    )


def _write(
    target: Path,
    corpus: list[dict[str, str]],
    queries: list[dict[str, str]],
    qrels: list[tuple[str, str, int]],
) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for file, rows in (("corpus", corpus), ("queries", queries)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (target / f"{file}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    told = "".join(f"{query}\t{document}\t{grade}\n" for query, document, grade in qrels)
    (target / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + told, encoding="utf-8")
    assert list(lines(target / "queries.jsonl.gz"))
