"""Contradictions on pages: shown while they are open, decided by a person, gone when a source is corrected."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.contradictions import Decided, Verdict, decide
from flows.lint import lint
from flows.session import open_state
from flows.steps import DirectRunner
from flows.undo import undo
from serving.disputed import contradictions
from tasks.contradictions.claims import ContradictionRecord, Decision
from tasks.digest import markdown
from tests import wikis
from tests.invariants import broken, unsettled
from tests.test_cli import told
from tests.wikis import page, put, run

SETTINGS = wikis.SETTINGS + "staging:\n  policy: off\n"
OLD = "The upload limit is 10 MB for each file."
NEW = "The upload limit is 12 MB for each file."
ONE = f"""# Acme gateway

Acme gateway is a server that takes files from partners and hands them on to other programs. {OLD} It keeps a
log of all transfers in a folder of its own. The log is turned over every night at two.

## Accounts

Each partner has an account with a key. Keys are made by the operator and sent by letter.
"""
TWO = f"""# Acme gateway

The gateway runs on three machines in two halls. {NEW} Partners are told when a transfer has failed.

## Alarms

An alarm goes to the operator when the queue holds more than a hundred files.
"""


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    """Two sources on one subject that contradict each other, read on two nights."""
    made = wikis.make(tmp_path / "w", SETTINGS, one=ONE)
    run(made, 1)
    put(made.root, "raw_sources/two.md", TWO)
    run(made, 2)
    return made


def rows(wiki: Wiki) -> list[ContradictionRecord]:
    return [*open_state(wiki).ledger.contradictions().values()]


def waiting(wiki: Wiki) -> list[str]:
    return [one.id for one in contradictions(wiki).contradictions]


def verdict(wiki: Wiki, how: str, day: int = 3, **options: str) -> Decided:
    now = f"2026-03-{day:02d}T12:00:00Z"
    return decide(wiki, DirectRunner(), now, Verdict(rows(wiki)[0].id, Decision(how), **options))


def text(wiki: Wiki) -> str:
    return page(wiki.root, "acme-gateway")


def correct(wiki: Wiki, before: str, after: str, name: str = "two") -> None:
    path = wiki.root / f"raw_sources/{name}.md"
    content = path.read_text()
    assert before in content
    put(wiki.root, f"raw_sources/{name}.md", content.replace(before, after))


def test_both_sentences_are_shown(wiki: Wiki) -> None:
    """The page is marked, quotes both word for word with their footnotes, and says so in lint and lists."""
    callout = text(wiki).split("> [!warning]")[1].split("\n\n")[0]
    assert f'"{OLD}"[^nw-' in callout and f'"{NEW}"[^nw-' in callout and callout.index(OLD) < callout.index(NEW)
    assert "status: contradicted" in text(wiki) and broken(wiki) == [] == unsettled(wiki, 3)
    (finding,) = [one for one in lint(wiki, DirectRunner(), "2026-03-03T04:00:00Z").findings
                  if one.check == "open-contradiction"]
    assert text(wiki).splitlines()[finding.line - 1].startswith("> [!warning]") and OLD in finding.message
    (item,) = told("-w", wiki.root, "contradictions", "list")["contradictions"]
    assert (item["old"]["source"], item["new"]["quote"], item["state"]) == ("raw_sources/one.md", NEW, "open")
    hit = told("-w", wiki.root, "search", "acme gateway upload limit")["hits"][0]
    assert hit["status"] == "contradicted"


@pytest.mark.parametrize(("how", "kept", "lost"), [("keep-old", OLD, NEW), ("take-new", NEW, OLD)])
def test_a_decision_keeps_one_sentence(wiki: Wiki, how: str, kept: str, lost: str) -> None:
    """The page is active again without the sentence that lost, and a night that compiles it anew agrees."""
    done = verdict(wiki, how, reason="the operator says so")
    assert done.changed == ("wiki/acme-gateway.md",) and not done.staged
    after = text(wiki)
    assert "[!warning]" not in after and "status: active" in after and kept in after and lost not in after
    assert broken(wiki) == [] == unsettled(wiki, 4)
    run(wiki, 5, force=True)
    assert text(wiki).split("---\n", 2)[2] == after.split("---\n", 2)[2]
    assert rows(wiki)[0].note == "the operator says so"
    assert waiting(wiki) == []


def test_both_hold_each_at_its_time(wiki: Wiki) -> None:
    """Both sentences stay, with the times that the person gave, in a note that a later night keeps."""
    verdict(wiki, "both", old_when="until 2024", new_when="since 2025")
    note = text(wiki).split("> [!note]")[1].split("\n\n")[0]
    assert f'until 2024: "{OLD}"' in note and f'since 2025: "{NEW}"' in note and "status: active" in text(wiki)
    before = text(wiki)
    run(wiki, 5, force=True)
    assert text(wiki).split("---\n", 2)[2] == before.split("---\n", 2)[2] and broken(wiki) == []


def test_a_german_page_tells_of_it_in_german(tmp_path: Path) -> None:
    """The callout and the note that follows from a decision are in the page's language."""
    start = "<html lang='de'><body><article><h1>Acme-Portal</h1><p>"
    rest = "Die Partner haben eigene Zugänge. Das Protokoll liegt in einem Ordner auf dem Rechner."
    first = f"{start}Das Acme-Portal ist ein Dienst für Dateien. Das Archiv fasst 10 Terabyte. {rest}</p></article>"
    second = f"{start}Das Portal läuft auf drei Rechnern. Das Archiv fasst 12 Terabyte. {rest}</p></article>"
    made = wikis.make(tmp_path / "w", SETTINGS)
    put(made.root, "raw_sources/one.html", first)
    put(made.root, "raw_sources/two.html", second)
    run(made, 1)
    assert "> [!warning] Zwei Quellen widersprechen einander\n" in page(made.root, "acme-portal")
    verdict(made, "both", old_when="bis 2024", new_when="seit 2025")
    assert "> [!note] Beides gilt, jedes zu seiner Zeit\n" in page(made.root, "acme-portal")
    assert unsettled(made, 4) == []


def test_a_night_tells_how_many_wait_for_a_decision(tmp_path: Path) -> None:
    """Those it found itself are among them, decided ones are not."""
    made = wikis.make(tmp_path / "w", SETTINGS, one=ONE)
    assert run(made, 1).contradictions == 0
    put(made.root, "raw_sources/two.md", TWO)
    second = run(made, 2)
    assert second.contradictions == 1 and "1 contradiction between sources" in markdown(second)
    verdict(made, "dismissed")
    assert run(made, 9).contradictions == 0


def test_a_dismissed_pair_stays_dismissed_until_a_sentence_changes(wiki: Wiki) -> None:
    """Other changes of the sources do not bring it back; another figure is another contradiction."""
    verdict(wiki, "dismissed")
    assert "[!warning]" not in text(wiki) and OLD in text(wiki) and NEW in text(wiki)
    correct(wiki, "three machines", "four machines")
    run(wiki, 5)
    assert "four machines" in text(wiki) and "[!warning]" not in text(wiki)
    correct(wiki, NEW, NEW.replace("12", "14"))
    run(wiki, 6)
    assert "[!warning]" in text(wiki) and "14 MB" in text(wiki) and len(rows(wiki)) == 2


@pytest.mark.parametrize("how", ["corrected", "deleted"])
def test_it_vanishes_with_its_sentence(wiki: Wiki, how: str) -> None:
    """A source that was corrected, or left, takes the contradiction along, and the page is active again."""
    if how == "corrected":
        correct(wiki, NEW, OLD)
    else:
        (wiki.root / "raw_sources/two.md").unlink()
    run(wiki, 4)
    assert "[!warning]" not in text(wiki) and "status: active" in text(wiki) and rows(wiki) == []
    assert broken(wiki) == [] == unsettled(wiki, 5)


def test_a_status_of_the_person_s_stays(wiki: Wiki) -> None:
    """What a person wrote into the property is theirs, while it is open and after."""
    put(wiki.root, "wiki/acme-gateway.md", text(wiki).replace("status: contradicted", "status: draft"))
    verdict(wiki, "keep-old")
    assert "status: draft" in text(wiki) and "[!warning]" not in text(wiki)
    correct(wiki, NEW, OLD)
    run(wiki, 5)
    assert "status: draft" in text(wiki)


def test_text_of_the_person_s_is_not_changed(wiki: Wiki) -> None:
    """A losing sentence in a block that a person edited stays; a candidate proposes the page without it."""
    edited = text(wiki).replace("three machines in two halls.[", "THREE machines in two halls.[")
    put(wiki.root, "wiki/acme-gateway.md", edited)
    done = verdict(wiki, "keep-old")
    assert NEW in text(wiki) and "THREE" in text(wiki) and "[!warning]" not in text(wiki)
    waits = (wiki.root / done.staged).read_text()
    assert done.staged and "THREE" in waits and NEW not in waits.split("> ```\n")[-1]
    told("-w", wiki.root, "candidates", "promote", "acme-gateway")
    assert NEW not in text(wiki) and "THREE" in text(wiki) and broken(wiki) == []


def test_the_person_may_take_the_callout_out(wiki: Wiki) -> None:
    """It is still open, does not come back on the page, and can be decided."""
    callout = "> [!warning]" + text(wiki).split("> [!warning]")[1].split("\n\n")[0] + "\n\n"
    put(wiki.root, "wiki/acme-gateway.md", text(wiki).replace(callout, ""))
    run(wiki, 4, force=True)
    assert "[!warning]" not in text(wiki) and len(waiting(wiki)) == 1
    verdict(wiki, "take-new", 5)
    assert OLD not in text(wiki) and "status: active" in text(wiki)


def test_a_decision_can_be_taken_back(wiki: Wiki) -> None:
    """Undo brings page and contradiction back; undo of the undo the decision."""
    before = text(wiki)
    done = verdict(wiki, "take-new")
    after = text(wiki)
    with pytest.raises(NightwikiError, match="is decided already"):
        verdict(wiki, "keep-old")
    back = undo(wiki, done.run, "2026-03-04T12:00:00Z")
    assert text(wiki) == before and rows(wiki)[0].state is Decision.OPEN
    undo(wiki, back.run, "2026-03-05T12:00:00Z")
    assert text(wiki) == after and rows(wiki)[0].state is Decision.TAKE_NEW and broken(wiki) == []


def test_the_night_that_found_it_can_be_taken_back(wiki: Wiki) -> None:
    """The page is as before and nothing is open; when a person edited the page, it and the contradiction stay."""
    night = open_state(wiki).runs.all()[-1].run
    undo(wiki, night, "2026-03-03T12:00:00Z")
    assert "status: active" in text(wiki) and rows(wiki) == [] and broken(wiki) == []
    run(wiki, 4, force=True)
    put(wiki.root, "wiki/acme-gateway.md", text(wiki) + "\nMine.\n")
    undo(wiki, open_state(wiki).runs.all()[-1].run, "2026-03-05T12:00:00Z")
    assert "[!warning]" in text(wiki) and "Mine." in text(wiki) and rows(wiki)[0].state is Decision.OPEN


def test_commands(wiki: Wiki) -> None:
    """A dry run writes nothing, a page's name will do, and a wrong name is one line."""
    before = wikis.vault(wiki.root)
    planned = told("-w", wiki.root, "contradictions", "resolve", "acme-gateway", "keep-old", "--dry-run")
    assert planned["changed"] == ["wiki/acme-gateway.md"] and wikis.vault(wiki.root) == before
    done = told("-w", wiki.root, "contradictions", "dismiss", rows(wiki)[0].id[:5])
    assert done["contradiction"]["state"] == "dismissed"
    with pytest.raises(NightwikiError, match="no open contradiction"):
        decide(wiki, DirectRunner(), "2026-03-05T12:00:00Z", Verdict("acme-gateway", Decision.KEEP_OLD))
    assert open_state(wiki).runs.all()[-1].state == "ok"


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_a_person_does_meanwhile(wiki: Wiki, seed: int) -> None:
    """Edits, nights, corrections and decisions in any order lose no edit and leave no page half decided."""
    dice = random.Random(seed)
    mine: list[str] = []
    for day in range(4, 9):
        action = dice.choice(["add", "edit", "correct", "decide", "night", "undo"])
        lines = text(wiki).split("\n")
        if action == "add":
            mine.append(f"My own line {seed}-{day}.")
            at = dice.randrange(lines.index("---", 1) + 1, len(lines))
            while at < len(lines) and lines[at]:
                at += 1
            put(wiki.root, "wiki/acme-gateway.md", "\n".join([*lines[:at], "", mine[-1], "", *lines[at:]]))
        elif action == "edit":
            put(wiki.root, "wiki/acme-gateway.md", text(wiki).replace("log of all transfers", f"log {day} of it"))
        elif action == "correct":
            put(wiki.root, "raw_sources/two.md", TWO.replace("12 MB", f"{dice.choice([10, 12, 15])} MB"))
        elif action == "decide" and waiting(wiki):
            how = dice.choice(["keep-old", "take-new", "both", "dismissed"])
            name = waiting(wiki)[0]
            decide(wiki, DirectRunner(), f"2026-03-{day:02d}T12:00:00Z", Verdict(name, Decision(how)))
        elif action == "undo":
            last = [one for one in open_state(wiki).runs.all() if one.changed and not one.undone_by][-1:]
            for one in last:
                undo(wiki, one.run, f"2026-03-{day:02d}T13:00:00Z")
        run(wiki, day)
        shown = "[!warning]" in text(wiki)
        waits = bool(waiting(wiki))
        assert all(line in text(wiki) for line in mine) and broken(wiki) == []
        assert not (shown and not waits) and ("status: contradicted" in text(wiki)) == waits, action
