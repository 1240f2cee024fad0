"""A run taken back: files, rows and sources as they were, and nobody's later work touched."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.night import Review, review, sync
from flows.session import open_state
from flows.steps import DirectRunner
from flows.undo import Undone, undo
from tasks.records import Outcome
from tests import wikis
from tests.invariants import broken, unsettled
from tests.test_cli import say, told
from tests.web import Reply, Web
from tests.web import page as page_reply
from tests.wikis import COLOSSUS, ENIAC, SETTINGS, page, put, run, vault

THIN = "# Abacus\n\nAn abacus is a counting frame.\n"
MORE = ENIAC.replace("18,000", "17,468")


def _undo(wiki: Wiki, name: str, day: int = 20, **options: bool) -> Undone:
    return undo(wiki, name, f"2026-03-{day:02d}T09:00:00Z", **options)


def _tables(wiki: Wiki) -> dict[str, object]:
    ledger = open_state(wiki).ledger
    return {name: ledger.rows(name) for name in ("pages", "documents", "chunks", "candidates")}


def _outcomes(wiki: Wiki) -> set[Outcome]:
    return {source.outcome for source in open_state(wiki).ledger.sources().values()}


def test_the_first_night_is_taken_back(tmp_path: Path) -> None:
    """Every file it made goes, no row of its pages stays, and its sources wait."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS, thin=THIN)
    before = vault(wiki.root)
    done = _undo(wiki, run(wiki).run)
    assert vault(wiki.root) == before and not done.left
    assert _tables(wiki) == {"pages": (), "documents": (), "chunks": (), "candidates": ()}
    assert _outcomes(wiki) == {Outcome.UNDONE} and broken(wiki) == []


def test_the_next_night_does_not_bring_it_back(tmp_path: Path) -> None:
    """Only other bytes, or --force, have an undone source compiled again; then its index comes back, too."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    _undo(wiki, run(wiki).run, 1)
    assert unsettled(wiki, 2) == []
    put(wiki.root, "raw_sources/machine.md", MORE)
    run(wiki, 3)
    assert sorted(p.name for p in (wiki.root / "wiki").glob("*.md")) == ["eniac.md", "index.md"]
    assert run(wiki, 4, force=True).created == 1 and broken(wiki) == []


def test_a_corrected_source_says_again_what_it_said(tmp_path: Path) -> None:
    """The page has its former words, and keeps them when another source joins it."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    before, rows = vault(wiki.root), _tables(wiki)
    put(wiki.root, "raw_sources/machine.md", MORE)
    _undo(wiki, run(wiki, 2).run, 2)
    assert {**vault(wiki.root), "raw_sources/machine.md": b""} == {**before, "raw_sources/machine.md": b""}
    assert _tables(wiki) == rows and unsettled(wiki, 3) == []
    put(wiki.root, "raw_sources/other.md", ENIAC.replace("forty panels", "many cabinets"))
    run(wiki, 4)
    assert "18,000" in page(wiki.root, "eniac") and "17,468" not in page(wiki.root, "eniac")


def test_an_undone_undo_is_the_night_again(tmp_path: Path) -> None:
    """Files, rows and the diary are as after the night."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS, thin=THIN)
    night = run(wiki).run
    after, rows, sources = vault(wiki.root), _tables(wiki), open_state(wiki).ledger.sources()
    first = _undo(wiki, night, 2)
    with pytest.raises(NightwikiError, match=f"taken back by {first.run}"):
        _undo(wiki, night, 3)
    _undo(wiki, first.run, 4)
    assert (vault(wiki.root), _tables(wiki), open_state(wiki).ledger.sources()) == (after, rows, sources)
    assert {one.run: one.undone_by for one in open_state(wiki).runs.all()}[night] == ""
    assert _undo(wiki, night, 5).changed


def test_a_page_that_a_person_changed_stays(tmp_path: Path) -> None:
    """It is named, listed, keeps the evidence it cites, and has no link to a page that went."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    put(wiki.root, "raw_sources/colossus.html", f"<title>Colossus</title><h1>Colossus</h1><p>{COLOSSUS[12:]}")
    night = run(wiki).run
    assert "[[eniac" in page(wiki.root, "colossus")
    put(wiki.root, "wiki/colossus.md", page(wiki.root, "colossus") + "\nMy own line.\n")
    done = _undo(wiki, night)
    assert {one.path.split("/")[0] for one in done.left} == {"wiki", "evidence"}
    assert "My own line." in page(wiki.root, "colossus") and "[[eniac" not in page(wiki.root, "colossus")
    assert "[[colossus" in page(wiki.root, "index") and "eniac" not in page(wiki.root, "index")
    assert broken(wiki) == [] and unsettled(wiki, 21) == []


def test_a_later_run_keeps_its_work(tmp_path: Path) -> None:
    """Of a page that two nights wrote neither goes when the older is taken back; both go with --since."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    before = vault(wiki.root)
    first, second = run(wiki).run, ""
    put(wiki.root, "raw_sources/machine.md", MORE)
    second = run(wiki, 2).run
    left = _undo(wiki, first, dry_run=True).left
    assert [(one.path, one.reason) for one in left] == [("wiki/eniac.md", f"run {second} changed it later")]
    assert _undo(wiki, first, since=True).undone == (second, first)
    assert {**vault(wiki.root), "raw_sources/machine.md": ENIAC.encode()} == before and broken(wiki) == []


def test_a_promotion_is_taken_back(tmp_path: Path) -> None:
    """The page goes, and its candidate waits again, unticked."""
    wiki = wikis.make(tmp_path / "w", thin=THIN)
    run(wiki)
    before = vault(wiki.root)
    done = review(wiki, DirectRunner(), "2026-03-02T09:00:00Z", [Review("abacus", True)])
    _undo(wiki, done.run)
    assert vault(wiki.root) == before
    waiting = page(wiki.root, "candidates/abacus")
    put(wiki.root, "wiki/candidates/abacus.md", waiting.replace("promote: false", "promote: true"))
    ticked = sync(wiki, DirectRunner(), "2026-03-21T09:00:00Z")
    assert (wiki.root / "wiki/abacus.md").exists()
    _undo(wiki, ticked.run, 22)
    assert vault(wiki.root) == before and unsettled(wiki, 23) == []


def test_a_removed_sources_page_comes_back_and_stays(tmp_path: Path) -> None:
    """A night that struck a page with its source is taken back for good."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    before = vault(wiki.root)
    (wiki.root / "raw_sources/machine.md").unlink()
    done = _undo(wiki, run(wiki, 2).run, 2)
    assert vault(wiki.root) == {path: text for path, text in before.items() if path != "raw_sources/machine.md"}
    assert done.sources == ("raw_sources/machine.md",) and unsettled(wiki, 3) == []
    put(wiki.root, "raw_sources/machine.md", MORE)
    run(wiki, 4)
    assert "17,468" in page(wiki.root, "eniac") and broken(wiki) == []


def _cut_off(wiki: Wiki, *names: str) -> str:
    """An undo, by id, that is killed after its commit and before its notes in the diary."""
    diary = wiki.state_dir / "runs/runs.jsonl"
    done = _undo(wiki, names[0], since=len(names) > 1)
    lines = diary.read_text().splitlines(keepends=True)
    own = next(number for number, line in enumerate(lines) if '"undoing"' in line and done.run in line)
    diary.write_text("".join(lines[: own + 1]))
    return done.run


def test_an_undo_that_was_cut_off_is_finished_by_the_next(tmp_path: Path) -> None:
    """Killed after its commit and before its note in the diary, it is taken up again, and finds all done."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    before, night = vault(wiki.root), run(wiki).run
    first = _cut_off(wiki, night)
    again = _undo(wiki, night)
    assert (again.run, again.undone, again.changed, again.left) == (first, (night,), (), ())
    assert vault(wiki.root) == before
    assert [(one.state, one.undone_by) for one in open_state(wiki).runs.all()] == [("ok", first), ("ok", "")]


def test_any_run_finishes_what_is_told_of_an_undo(tmp_path: Path) -> None:
    """A night after the kill marks all runs that the undo took back, and those that stand again since."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    first = run(wiki).run
    put(wiki.root, "raw_sources/codes.md", COLOSSUS)
    second = run(wiki, 2).run
    third = _cut_off(wiki, first, second)
    run(wiki, 21)
    told = {one.run: one.undone_by for one in open_state(wiki).runs.all() if one.state == "ok"}
    assert (told[first], told[second], told[third]) == (third, third, "")
    fourth = _cut_off(wiki, third)
    put(wiki.root, "raw_sources/thin.md", THIN)
    _undo(wiki, run(wiki, 22).run, 23)
    told = {one.run: one.undone_by for one in open_state(wiki).runs.all()}
    assert (told[first], told[second], told[third]) == ("", "", fourth)


def test_an_undone_address_waits_for_other_bytes(tmp_path: Path, web: Web) -> None:
    """It is asked as before; the same article, or a failure, brings nothing back, a corrected one does."""
    article = f"<title>ENIAC</title><h1>ENIAC</h1><article><p>{ENIAC[9:]}</article>"
    web.route("/robots.txt", Reply(404))
    same, other = page_reply(article), page_reply(article.replace("18,000", "17,468"))
    address = web.route("/eniac", same, same, Reply(503), Reply(503), Reply(503), same, other)
    settings = f"{SETTINGS}fetch:\n  allow_private: [127.0.0.1]\n  host_pause_seconds: 0\n  retries: 0\n"
    wiki = wikis.make(tmp_path / "w", settings)
    put(wiki.root, "raw_sources/inbox.md", f"{address}\n")
    before = vault(wiki.root)
    night = run(wiki)
    assert night.created == 1 and len(list((wiki.root / "evidence").iterdir())) == 1
    _undo(wiki, night.run, 1)
    assert vault(wiki.root) == before
    for day in range(2, 12):
        if run(wiki, day).changed:
            break
        assert _outcomes(wiki) == {Outcome.UNDONE}
    assert "17,468" in page(wiki.root, "eniac") and broken(wiki) == []


def test_what_cannot_be_taken_back_is_said_in_one_line(tmp_path: Path) -> None:
    """An unknown run, one that wrote nothing, and one past retention."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    night, idle = run(wiki).run, run(wiki, 2).run
    put(wiki.root, "raw_sources/machine.md", MORE)
    run(wiki, 28)
    open_state(wiki).retention(3, "2026-04-20T00:00:00Z")
    for name, cause in (("2025", "no such run"), (idle, "changed no file"), (night, "keep_days")):
        code, _, err = say("undo", name, "-w", wiki.root)
        assert code == 1 and cause in err and err.count("\n") == 1
    assert [one.kind for one in open_state(wiki).runs.all()] == ["ingest"] * 3


def test_the_command_tells_what_it_did(tmp_path: Path) -> None:
    """In JSON and in words; a dry run writes nothing; 3 when something was left."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    night = run(wiki).run
    after = vault(wiki.root)
    assert told("undo", night, "-w", wiki.root, "--dry-run")["changed"] == ["wiki/eniac.md", "wiki/index.md"]
    assert vault(wiki.root) == after
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac") + "\nMine.\n")
    code, out, _ = say("undo", night[:15], "-w", wiki.root)
    assert code == 3 and "left: wiki/eniac.md: you have changed it since" in out


def _broken(wiki: Wiki) -> list[str]:
    """Broken rules; but a page that is back cites what its source no longer says, for that is what undo means."""
    return [rule for rule in broken(wiki) if "raw_sources/" not in rule]


_NAMES = ("ENIAC", "EDVAC", "UNIVAC", "Whirlwind")


@pytest.mark.parametrize("seed", range(2))
def test_a_run_and_its_undo_leave_no_trace(tmp_path: Path, seed: int) -> None:
    """Over random nights with random edits in between: equal bytes but for files that a person edited."""
    chance = random.Random(seed)

    def source(name: str) -> str:
        text = ENIAC.replace("ENIAC", name).replace("18,000", f"{chance.randint(1, 30)},000")
        return text if chance.random() < 0.8 else f"# {name}\n\n{name} was a machine.\n"

    wiki = wikis.make(tmp_path / "w", **{name.lower(): source(name) for name in _NAMES[:2]})
    run(wiki)
    for night in range(2, 7):
        for name in chance.sample(_NAMES, 2):
            place = wiki.root / "raw_sources" / f"{name.lower()}.md"
            if chance.random() < 0.2:
                place.unlink(missing_ok=True)
            else:
                put(wiki.root, f"raw_sources/{name.lower()}.md", source(name))
        before = vault(wiki.root)
        done = run(wiki, night)
        edited = {path for path in before if "raw_sources" in path}
        files = [path for path in vault(wiki.root) if path.startswith("wiki/")]
        for path in chance.sample(files, min(len(files), chance.randint(0, 2))):
            put(wiki.root, path, (wiki.root / path).read_text() + f"\nMine in night {night}.\n")
            edited.add(path)
        mine = {path: (wiki.root / path).read_bytes() for path in edited if (wiki.root / path).exists()}
        if not done.changed:
            continue
        undone = _undo(wiki, done.run, night)
        after = vault(wiki.root)
        lists = {"wiki/index.md"} if edited & {path for path in mine if path.startswith("wiki/")} else set()
        kept = edited | lists | {one.path for one in undone.left}
        assert {p: t for p, t in after.items() if p not in kept} == {p: t for p, t in before.items() if p not in kept}
        assert {one.path for one in undone.left} <= edited
        assert all(b"Mine in night" in after[path] for path in mine if b"Mine in night" in mine[path])
        assert _broken(wiki) == []
        # An update that waits is compared with its page again, which a page that was left may join.
        again = {what.split()[-1] for what in unsettled(wiki, night) if not what.endswith(".update.md")}
        assert again <= {one.path for one in undone.left}
        if chance.random() < 0.5:
            _undo(wiki, undone.run, night)
            assert _broken(wiki) == []


def test_a_run_of_which_all_was_left_can_be_taken_back_later(tmp_path: Path) -> None:
    """It still stands; once the later run is taken back, so can this one be."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    before = vault(wiki.root)
    put(wiki.root, "raw_sources/machine.md", MORE)
    first = run(wiki, 2).run
    put(wiki.root, "raw_sources/machine.md", MORE.replace("in 1945", "in 1946"))
    second = run(wiki, 3).run
    nothing = _undo(wiki, first, 4)
    assert nothing.state == "partial" and nothing.undone == () and nothing.changed == ()
    assert _undo(wiki, second, 5).undone == (second,) and _undo(wiki, first, 6).undone == (first,)
    assert page(wiki.root, "eniac") == before["wiki/eniac.md"].decode()


def test_what_an_undo_left_is_taken_back_by_another(tmp_path: Path) -> None:
    """A page edited since was left; once its edit is gone, the same undo takes it back, too."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    done = run(wiki).run
    text = page(wiki.root, "eniac")
    put(wiki.root, "wiki/eniac.md", text + "mine\n")
    assert [one.path for one in _undo(wiki, done, 2).left] == ["wiki/eniac.md"]
    put(wiki.root, "wiki/eniac.md", text)
    assert _undo(wiki, done, 3).left == () and not (wiki.root / "wiki/eniac.md").exists()
