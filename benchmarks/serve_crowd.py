"""Clients, nights and reviews at once: no request may fail, and no answer may mix two snapshots.

Each night brings new sources, some too thin to be published unread, and changes notes. A reviewer promotes and
discards what waits. Every hit that a client was given is held against the snapshot that its answer names: the page's
hash and the excerpt's place must be those of that very snapshot.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.serve_client import Client, Told
from benchmarks.serve_wiki import ROOT
from config.errors import StateError
from config.wiki import Wiki
from storage.reader import Reader, Snapshot

_KEPT = 4000
"""Answers that are held against their snapshots afterwards."""


@dataclass(slots=True)
class Seen:
    """What happened."""

    requests: int = 0
    failures: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    answers: list[Any] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    nights: int = 0
    reviews: int = 0
    busy: int = 0
    guard: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A crowd's time: requests, what failed, snapshots seen, answers checked and those that were not of one piece."""

    requests: int
    failures: Sequence[str]
    snapshots: int
    checked: int
    mixed: int
    nights: int
    reviews: int
    busy: int
    p95: float  # seconds of `/search`


def crowd(wiki: Wiki, url: str, questions: Sequence[str], seconds: float, clients: int = 32) -> Outcome:
    """What `clients` clients saw in so many seconds while nights and reviews went on."""
    seen = Seen()
    ending = time.monotonic() + seconds
    notes = len([*(wiki.root / "notes").glob("*.md")])
    workers = [threading.Thread(target=_ask, args=(url, questions, notes, n, ending, seen)) for n in range(clients)]
    workers += [
        threading.Thread(target=_nights, args=(wiki, ending, seen)),
        threading.Thread(target=_reviews, args=(url, ending, seen)),
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    checked, mixed = _check(wiki, seen.answers)
    snapshots = len({one["snapshot"] for one in seen.answers})
    times = sorted(seen.seconds)
    p95 = times[int(len(times) * 0.95)] if times else 0.0
    return Outcome(
        seen.requests, tuple(seen.failures), snapshots, checked, mixed, seen.nights, seen.reviews, seen.busy, p95
    )


def _ask(url: str, questions: Sequence[str], notes: int, number: int, ending: float, seen: Seen) -> None:
    chance = random.Random(number)
    client = Client(url)
    while time.monotonic() < ending:
        question = f"{chance.choice(questions)} {chance.randrange(10**6)}"
        kind = chance.choices(("search", "context", "query", "pages", "page"), (80, 8, 6, 3, 3))[0]
        try:
            told = _one(client, kind, question, notes, chance)
        except OSError as error:
            with seen.guard:
                seen.failures.append(f"{kind}: {type(error).__name__}: {error}")
            client.close()
            client = Client(url)
            continue
        with seen.guard:
            seen.requests += 1
            seen.statuses[told.status] += 1
            if told.status != 200:
                seen.failures.append(f"{kind}: {told.status} {told.body[:200].decode('utf-8', 'replace')}")
            elif kind == "search":
                seen.seconds.append(told.seconds)
                if len(seen.answers) < _KEPT or chance.random() < 0.05:
                    seen.answers.append(told.json)
    client.close()


def _one(client: Client, kind: str, question: str, notes: int, chance: random.Random) -> Told:
    if kind == "context":
        return client.post("/context/build", {"goal": question, "token_budget": chance.choice((500, 4000))})
    if kind == "query":
        return client.post("/query", {"question": question})
    if kind == "pages":
        return client.get(f"/pages?limit=20&path=notes/n000{chance.randrange(10)}*")
    if kind == "page":
        return client.get(f"/pages/notes/n{chance.randrange(notes):05d}.md?limit=500")
    return client.search(question)


def _nights(wiki: Wiki, ending: float, seen: Seen) -> None:
    """One night after the other, each with new sources and changed notes."""
    number = 0
    notes = sorted((wiki.root / "notes").glob("*.md"))
    while time.monotonic() < ending:
        number += 1
        source = wiki.root / wiki.sources_dir / f"device-{number}.md"
        source.write_text(_source(number), encoding="utf-8")
        thin = wiki.root / wiki.sources_dir / f"thin-{number}.txt"
        thin.write_text(f"Gadget {number}\n\nGadget {number} was a tool.\n", encoding="utf-8")
        for note in random.Random(number).sample(notes, min(10, len(notes))):
            note.write_text(f"{note.read_text(encoding='utf-8')}\nEdition {number}.\n", encoding="utf-8")
        command = [sys.executable, "-m", "serving.cli", "ingest", "--direct", "-w", str(wiki.root)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        with seen.guard:
            if done.returncode == 0:
                seen.nights += 1
            elif "busy since" in done.stderr:
                seen.busy += 1
            else:
                seen.failures.append(f"night: {done.returncode} {done.stderr.strip()[-300:]}")


def _source(number: int) -> str:
    return (
        f"# Device {number}\n\nDevice {number} is a calculating machine of relays. It was built in Berlin in "
        f"{1900 + number % 100} and weighed {number + 100} kilograms. It added two numbers in a second.\n\n"
        f"## Use\n\nEngineers used it to reckon the wings of aircraft. It was lost in a fire, and a copy was built.\n"
    )


def _reviews(url: str, ending: float, seen: Seen) -> None:
    """Promotes and discards what waits; while a night holds the lock the server says who, and it is tried again."""
    client = Client(url)
    turn = 0
    while time.monotonic() < ending:
        time.sleep(0.5)
        told = client.get("/candidates")
        for one in told.json["candidates"][:3] if told.status == 200 else ():
            turn += 1
            verb = "promote" if turn % 2 else "discard"
            answer = client.post(f"/candidates/{one['slug']}/{verb}", {})
            with seen.guard:
                if answer.status == 200:
                    seen.reviews += 1
                elif answer.status == 409 and answer.json.get("holder"):
                    seen.busy += 1
                elif answer.status != 404:  # a night has taken it back
                    seen.failures.append(f"{verb}: {answer.status} {answer.body[:200].decode('utf-8', 'replace')}")
    client.close()


def _check(wiki: Wiki, answers: Sequence[Any]) -> tuple[int, int]:
    """How many answers were held against their snapshot, and how many were not of one piece."""
    reader = Reader(wiki.state_dir)
    opened: dict[str, Snapshot] = {}
    checked = mixed = 0
    for answer in answers:
        if answer["snapshot"] not in opened:
            try:
                opened[answer["snapshot"]] = reader.at(answer["snapshot"])
            except StateError:
                continue
        hits = [hit for hit in answer["hits"] if hit["type"] != "chunk"]
        table = opened[answer["snapshot"]].some("pages", {hit["id"] for hit in hits}, ("id", "file_hash", "markdown"))
        rows = {row["id"]: row for row in table.to_pylist()}
        checked += 1
        mixed += not all(_of(rows.get(hit["id"]), hit) for hit in hits)
    return checked, mixed


def _of(row: dict[str, Any] | None, hit: dict[str, Any]) -> bool:
    """Whether a hit shows a page as this row has it."""
    if row is None or row["file_hash"] != hit["page_hash"]:
        return False
    return bool(row["markdown"][hit["start"] : hit["end"]] == hit["excerpt"])
