"""Corpora to measure retrieval on: BEIR folders, and wikis of titled pages with questions of three kinds."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

LABELLED_SEED = 411
OTHERS_SEED = 1985  # not the same: two samples drawn with one seed can be disjoint


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question, with its kind where the corpus tells kinds apart."""

    id: str
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, questions, and which documents answer: {question id: {document id: grade}}."""

    name: str
    documents: tuple[Entry, ...]
    queries: tuple[Query, ...]
    judged: dict[str, dict[str, int]]

    def digest(self) -> str:
        """A hash of all that a figure depends on."""
        told = hashlib.sha256()
        for one in self.documents:
            told.update(f"{one.id}\0{one.title}\0{one.text}\0".encode("utf-8", "surrogatepass"))
        for query in self.queries:
            told.update(f"{query.id}\0{query.text}\0{sorted(self.judged[query.id].items())}".encode())
        return told.hexdigest()[:16]

    def kinds(self) -> tuple[str, ...]:
        """The kinds of question there are, or one empty name."""
        return tuple(sorted({query.kind for query in self.queries})) or ("",)


def lines(path: Path) -> Iterator[Any]:
    """The JSON values of a `.jsonl` or `.jsonl.gz` file."""
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as file
    ):
        for line in file:
            if line.strip():
                yield json.loads(line)


def _named(folder: Path, stem: str) -> Path:
    return next(
        (folder / name for name in (f"{stem}.jsonl", f"{stem}.jsonl.gz") if (folder / name).is_file()),
        folder / stem,
    )


def read_beir(folder: Path, questions: Path | None = None) -> Corpus:
    """A BEIR folder. With `questions`, the queries of that other folder, by the same ids, are asked of it."""
    documents = tuple(
        Entry(str(row["_id"]), row.get("title") or "", row.get("text") or "")
        for row in lines(_named(folder, "corpus"))
    )
    known = {one.id for one in documents}
    judged: dict[str, dict[str, int]] = {}
    qrels = folder / "qrels.tsv" if (folder / "qrels.tsv").is_file() else folder / "qrels" / "test.tsv"
    for line in qrels.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0 and document in known:
            judged.setdefault(query, {})[document] = int(grade)
    queries = tuple(
        Query(str(row["_id"]), row["text"])
        for row in lines(_named(questions or folder, "queries"))
        if str(row["_id"]) in judged
    )
    name = folder.name if questions is None else f"{questions.name} asked of {folder.name}"
    return Corpus(name, documents, queries, {query.id: judged[query.id] for query in queries})


def read_wiki(questions: Path, text: Path) -> Corpus:
    """Titled pages with questions. Documents go by their title, questions by their line, counted from 0."""
    documents = tuple(Entry(row["title"], row["title"], row["text"]) for row in lines(text))
    rows = list(enumerate(lines(questions)))
    queries = tuple(Query(str(number), row["question"], row["kind"]) for number, row in rows)
    return Corpus(
        questions.stem, documents, queries, {str(number): {row["title"]: 1} for number, row in rows}
    )


def nested(corpus: Corpus, size: int) -> Corpus:
    """A smaller wiki of `size` pages out of the same: labelled pages up to half its size, then others.

    Smaller ones lie inside larger ones: both halves are prefixes of one fixed order, each drawn with its own seed.
    """
    if size >= len(corpus.documents):
        return corpus
    answers = sorted({document for judged in corpus.judged.values() for document in judged})
    others = sorted({one.id for one in corpus.documents} - set(answers))
    random.Random(LABELLED_SEED).shuffle(answers)
    random.Random(OTHERS_SEED).shuffle(others)
    labelled = min(len(answers), size // 2)
    kept = {*answers[:labelled], *others[: size - labelled]}
    queries = tuple(query for query in corpus.queries if set(corpus.judged[query.id]) <= kept)
    return replace(
        corpus,
        name=f"{corpus.name}-{size}",
        documents=tuple(one for one in corpus.documents if one.id in kept),
        queries=queries,
        judged={query.id: corpus.judged[query.id] for query in queries},
    )
