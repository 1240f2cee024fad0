"""Whole nights over small wikis: what becomes of sources, and what a person did in between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from config.errors import BusyError, StateError
from config.wiki import Wiki
from flows.night import Review, review, sync
from flows.session import open_state
from flows.steps import DirectRunner
from tasks.records import Outcome
from tests import wikis
from tests.web import Asked, Reply, Web
from tests.web import page as page_reply
from tests.wikis import COLOSSUS, ENIAC, page, put, run, vault

LATER = "2026-03-20T10:00:00Z"


def _outcome(root: Path, location: str) -> Outcome:
    sources = open_state(wikis.open_wiki(root)).ledger.sources().values()
    return next(source.outcome for source in sources if source.location == location)


def test_a_night_makes_linked_cited_pages(tmp_path: Path) -> None:
    """Sources become pages whose sentences carry footnotes, linked where one names the other."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    report = run(wiki)
    assert (report.state, report.created) == ("ok", 2)
    assert "[[eniac|ENIAC]]" in page(wiki.root, "colossus")
    assert '[[raw_sources/machine#Design]] "' in page(wiki.root, "eniac")
    assert "- [[colossus|Colossus]]" in page(wiki.root, "index")


def test_an_unchanged_night_writes_nothing(tmp_path: Path) -> None:
    """The second night leaves every file and the snapshot as they are."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    first = run(wiki)
    before = vault(wiki.root)
    second = run(wiki, 2)
    assert (second.changed, second.snapshot, vault(wiki.root)) == ((), first.snapshot, before)


def test_a_corrected_source_takes_its_old_words_along(tmp_path: Path) -> None:
    """The old wording leaves the page, the new one stands there, and no twin page or section appears."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    report = run(wiki, 2)
    text = page(wiki.root, "eniac")
    assert report.updated == 1 and "17,468" in text and "18,000" not in text
    assert sorted(p.name for p in (wiki.root / "wiki").glob("*.md")) == ["eniac.md", "index.md"]


def test_a_persons_words_and_keys_survive_a_corrected_source(tmp_path: Path) -> None:
    """A paragraph, a property and a tag of a person stay byte for byte."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    text = page(wiki.root, "eniac").replace("# ENIAC\n", "# ENIAC\n\nMy own   remark, kept.\n", 1)
    put(wiki.root, "wiki/eniac.md", text.replace("status: active\n", "status: active\nmy-notes: 12:30 # mine\n"))
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    after = page(wiki.root, "eniac")
    assert "My own   remark, kept.\n" in after and "my-notes: 12:30 # mine\n" in after and "17,468" in after


def test_an_edited_sentence_is_the_persons_and_the_proposal_waits(tmp_path: Path) -> None:
    """A block that a person changed stays, and what the source now says becomes a candidate."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac").replace("completed in 1945", "finished, at last, in 1945"))
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("completed in 1945", "completed in 1946"))
    report = run(wiki, 2)
    assert "finished, at last, in 1945" in page(wiki.root, "eniac")
    assert [line.kind for line in report.waiting] == ["update"]
    assert "1946" in page(wiki.root, "candidates/eniac.update")


def test_a_deleted_page_stays_deleted(tmp_path: Path) -> None:
    """Neither an unchanged nor a changed source brings back what a person deleted."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "wiki/eniac.md").unlink()
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    report = run(wiki, 2)
    assert not (wiki.root / "wiki/eniac.md").exists()
    assert "deleted" in report.lines[0].reason


def test_a_renamed_page_is_still_kept_up(tmp_path: Path) -> None:
    """The id in its properties leads to it wherever it is now."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "wiki/machines").mkdir()
    (wiki.root / "wiki/eniac.md").rename(wiki.root / "wiki/machines/The ENIAC.md")
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    assert "17,468" in (wiki.root / "wiki/machines/The ENIAC.md").read_text()
    assert not (wiki.root / "wiki/eniac.md").exists()


def test_a_copied_page_is_the_persons(tmp_path: Path) -> None:
    """The recorded path keeps the id; the copy is never written."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "wiki/A copy.md", page(wiki.root, "eniac"))
    copied = page(wiki.root, "A copy")
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    assert "17,468" in page(wiki.root, "eniac") and page(wiki.root, "A copy") == copied


def test_a_removed_source_takes_its_page_and_its_return_brings_it_back(tmp_path: Path) -> None:
    """A page that stood on one source alone goes with it; the links to it become words; nothing is poisoned."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    (wiki.root / "raw_sources/machine.md").rename(tmp_path / "aside.md")
    report = run(wiki, 2)
    assert report.removed == 1 and not (wiki.root / "wiki/eniac.md").exists()
    assert "[[eniac" not in page(wiki.root, "colossus") + page(wiki.root, "index")
    (tmp_path / "aside.md").rename(wiki.root / "raw_sources/machine.md")
    assert run(wiki, 3).created == 1
    assert "[[eniac|ENIAC]]" in page(wiki.root, "colossus")


def test_a_removed_source_leaves_a_persons_words_on_its_page(tmp_path: Path) -> None:
    """Only what the pipeline wrote leaves with its source."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac").replace("# ENIAC\n", "# ENIAC\n\nSaw it in 2019!\n", 1))
    (wiki.root / "raw_sources/machine.md").unlink()
    run(wiki, 2)
    text = page(wiki.root, "eniac")
    assert "Saw it in 2019!\n" in text and "vacuum tubes" not in text and "[^nw-" not in text


def test_a_moved_source_keeps_its_page_and_the_citations_follow(tmp_path: Path) -> None:
    """Moving files into a folder changes where citations point and nothing else."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    before = page(wiki.root, "eniac")
    (wiki.root / "raw_sources/old").mkdir()
    (wiki.root / "raw_sources/machine.md").rename(wiki.root / "raw_sources/old/machine.md")
    run(wiki, 2)
    after = page(wiki.root, "eniac")
    assert after.replace("raw_sources/old/machine", "raw_sources/machine").splitlines()[14:] == before.splitlines()[14:]
    assert "[[raw_sources/machine" not in after


def test_the_same_bytes_twice_are_read_once(tmp_path: Path) -> None:
    """The second file is named a duplicate; when the first goes, the second takes its place."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, twin=ENIAC)
    run(wiki)
    assert _outcome(wiki.root, "raw_sources/twin.md") is Outcome.DUPLICATE
    (wiki.root / "raw_sources/machine.md").unlink()
    run(wiki, 2)
    assert _outcome(wiki.root, "raw_sources/twin.md") is Outcome.OK
    assert "[[raw_sources/twin" in page(wiki.root, "eniac")


def test_a_thin_page_waits_and_promotion_is_one_commit(tmp_path: Path) -> None:
    """A doubtful page is held back; promoting it moves the file and lists it."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, thin="# Abacus\n\nAn abacus is a counting frame.\n")
    assert [line.slug for line in run(wiki).waiting] == ["abacus"]
    review(wiki, DirectRunner(), LATER, [Review("abacus", True)])
    assert "counting frame" in page(wiki.root, "abacus") and "promote" not in page(wiki.root, "abacus")
    assert "[[abacus|Abacus]]" in page(wiki.root, "index")
    assert not (wiki.root / "wiki/candidates/abacus.md").exists()


def test_a_ticked_box_is_carried_out_and_edits_in_the_candidate_count(tmp_path: Path) -> None:
    """The next sync promotes the bytes now on disk; the person's words in them are theirs from then on."""
    wiki = wikis.make(tmp_path / "w", thin="# Abacus\n\nAn abacus is a counting frame.\n")
    run(wiki)
    text = page(wiki.root, "candidates/abacus").replace("promote: false", "promote: true")
    put(wiki.root, "wiki/candidates/abacus.md", text.replace("# Abacus\n", "# Abacus\n\nI own one.\n"))
    sync(wiki, DirectRunner(), LATER)
    put(wiki.root, "raw_sources/thin.md", "# Abacus\n\nAn abacus is a counting frame with beads.\n")
    run(wiki, 21)
    assert "I own one.\n" in page(wiki.root, "abacus")


def test_a_discarded_page_does_not_come_back(tmp_path: Path) -> None:
    """The reason is remembered and the same proposal is not made again."""
    wiki = wikis.make(tmp_path / "w", thin="# Abacus\n\nAn abacus is a counting frame.\n")
    run(wiki)
    review(wiki, DirectRunner(), LATER, [Review("abacus", False, "too thin")])
    run(wiki, 21, force=True)
    assert not (wiki.root / "wiki/candidates/abacus.md").exists() and not (wiki.root / "wiki/abacus.md").exists()


def test_both_boxes_ticked_do_nothing_and_are_reported(tmp_path: Path) -> None:
    """A contradiction of ticks is left to the person."""
    wiki = wikis.make(tmp_path / "w", thin="# Abacus\n\nAn abacus is a counting frame.\n")
    run(wiki)
    both = page(wiki.root, "candidates/abacus").replace("promote: false", "promote: true")
    put(wiki.root, "wiki/candidates/abacus.md", both.replace("discard: false", "discard: true"))
    report = run(wiki, 2)
    assert [problem.subject for problem in report.problems] == ["wiki/candidates/abacus.md"]
    assert (wiki.root / "wiki/candidates/abacus.md").exists()


def test_a_dry_run_names_its_effects_and_leaves_no_trace(tmp_path: Path) -> None:
    """The paths are those that the real night then writes; nothing is created, not even a lock."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, thin="# Abacus\n\nAn abacus is a counting frame.\n")
    before = sorted(path for path in wiki.root.rglob("*"))
    planned = run(wiki, dry_run=True)
    assert sorted(path for path in wiki.root.rglob("*")) == before
    assert run(wiki).changed == planned.changed


def test_a_second_run_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    """Two runs never overlap."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    with open_state(wiki).run_lock(), ThreadPoolExecutor(1) as other, pytest.raises(BusyError, match="busy since"):
        other.submit(run, wiki).result()


def test_a_vanished_pages_folder_deletes_nothing(tmp_path: Path) -> None:
    """A disk that is not mounted is not a person who deleted every page."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "wiki").rename(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="pages"):
        run(wiki, 2)
    (tmp_path / "elsewhere").rename(wiki.root / "wiki")
    assert run(wiki, 3).state == "ok"


def test_user_notes_beside_the_pages_are_searched_linked_and_never_written(tmp_path: Path) -> None:
    """A note without our id is the person's: linked to, kept byte for byte."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    put(wiki.root, "wiki/University of Pennsylvania.md", "---\nfoo: NO\n---\nMy university.\r\n")
    before = (wiki.root / "wiki/University of Pennsylvania.md").read_bytes()
    run(wiki)
    assert "[[University of Pennsylvania]]" in page(wiki.root, "eniac")
    assert (wiki.root / "wiki/University of Pennsylvania.md").read_bytes() == before


def test_new_pages_are_placed_into_the_users_branches(tmp_path: Path) -> None:
    """ROUTING.md keeps its text and order and takes the page below the branch that is most like it."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    put(wiki.root, "ROUTING.md", "Mine.\n\n## Cooking\n\n## Electronic computer history\n- [[other]]\n\nEnd.\n")
    run(wiki)
    expected = "Mine.\n\n## Cooking\n\n## Electronic computer history\n- [[other]]\n- [[eniac|ENIAC]]\n\nEnd.\n"
    assert (wiki.root / "ROUTING.md").read_text() == expected


def test_the_digest_note_keeps_what_the_user_wrote_above_it(tmp_path: Path) -> None:
    """The part below the marker is renewed with each night that changes something."""
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "digest:\n  note: Digest.md\n", machine=ENIAC)
    run(wiki)
    put(wiki.root, "Digest.md", "Read me daily!\n\n" + (wiki.root / "Digest.md").read_text())
    put(wiki.root, "raw_sources/codes.md", COLOSSUS)
    run(wiki, 2)
    text = (wiki.root / "Digest.md").read_text()
    assert text.startswith("Read me daily!\n\n") and "Night of 2026-03-02" in text and "2026-03-01" not in text


def test_an_emptied_sources_folder_takes_nothing_along(tmp_path: Path) -> None:
    """When every file is gone at once, a missing disk is likelier than a person; --force believes it."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS, other=ENIAC.replace("ENIAC", "UNIVAC"))
    run(wiki)
    before = vault(wiki.root)
    for file in (wiki.root / "raw_sources").iterdir():
        file.unlink()
    report = run(wiki, 2)
    assert "empty" in report.problems[0].cause
    assert {p: b for p, b in before.items() if not p.startswith("raw_sources")} == vault(wiki.root)
    assert run(wiki, 3, force=True).removed == 3


def _with_links(root: Path, *lines: str) -> Wiki:
    settings = wikis.SETTINGS + "fetch:\n  allow_private: ['127.0.0.1']\n  host_pause_seconds: 0\n  retries: 0\n"
    wiki = wikis.make(root, settings)
    put(root, "raw_sources/inbox.md", "\n".join(lines) + "\n")
    return wiki


PARAGRAPH = (
    "<p>{0} is a steam engine that was built in 1825 for a railway in the north of England. The engineer who drew it "
    "was proud of its boiler, and people came from far away to see it run.</p>"
)
ARTICLE = f"<html><head><title>{{0}}</title></head><body><article><h1>{{0}}</h1>{PARAGRAPH}</article></body></html>"


def test_addresses_are_fetched_once_and_then_conditionally(tmp_path: Path, web: Web) -> None:
    """A page in the inbox note becomes a page with a readable copy; the next night asks whether it changed."""

    def reply(asked: Asked) -> Reply:
        if asked.headers.get("if-none-match") == '"v1"':
            return Reply(304)
        return Reply(200, ARTICLE.format("Locomotion").encode(), {"Content-Type": "text/html", "ETag": '"v1"'})

    web.route("/robots.txt", Reply(404))
    wiki = _with_links(tmp_path / "w", f"- [An engine]({web.route('/engine', reply)}?utm_source=x)")
    first = run(wiki)
    before = vault(wiki.root)
    second = run(wiki, 2)
    assert (first.created + first.staged, second.changed) == (1, ())
    assert vault(wiki.root) == before
    assert [a.path for a in web.asked if a.path != "/robots.txt"] == ["/engine", "/engine"]


def test_a_page_that_is_gone_keeps_what_it_said(tmp_path: Path, web: Web) -> None:
    """A 404 is an outcome of its own; the archived copy and its page stay."""
    web.route("/robots.txt", Reply(404))
    address = web.route("/engine", page_reply(ARTICLE.format("Locomotion")), Reply(404))
    wiki = _with_links(tmp_path / "w", address)
    run(wiki)
    before = vault(wiki.root)
    report = run(wiki, 2)
    assert [(line.outcome, report.state) for line in report.lines] == [(Outcome.GONE, "partial")]
    assert (vault(wiki.root), run(wiki, 3).state) == (before, "ok")


def test_a_listed_page_that_is_a_feed_brings_its_entries(tmp_path: Path, web: Web) -> None:
    """Entries become sources of their own, each fetched once."""
    web.route("/robots.txt", Reply(404))
    entry = web.route("/engine", page_reply(ARTICLE.format("Locomotion")))
    feed = (
        f'<rss version="2.0"><channel><title>F</title><item><title>E</title><link>{entry}</link></item></channel></rss>'
    )
    wiki = _with_links(tmp_path / "w", web.route("/news", Reply(200, feed.encode(), {"Content-Type": "text/xml"})))
    report = run(wiki)
    run(wiki, 2)
    assert dict(report.sources) == {"ok": 2}
    assert [a.path for a in web.asked].count("/engine") == 1


def test_a_private_address_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    """One refused address costs nothing but itself."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    put(wiki.root, "raw_sources/inbox.md", "http://127.0.0.1:4200/api\nfile:///etc/hosts\n")
    report = run(wiki)
    assert {(line.location, line.outcome) for line in report.lines if line.outcome is not Outcome.OK} == {
        ("http://127.0.0.1:4200/api", Outcome.REFUSED)
    }
    assert report.created == 1 and report.state == "partial"


def test_a_clipped_note_is_read_in_place(tmp_path: Path) -> None:
    """A Web Clipper note is a source where it lies; it is never written."""
    wiki = wikis.make(tmp_path / "w")
    clip = (
        "---\ntitle: Locomotion\nsource: https://example.org/engine\n---\n\n"
        + 4 * "Locomotion was a steam engine of 1825.\n\n"
    )
    put(wiki.root, "Clippings/Locomotion.md", clip)
    run(wiki)
    assert _outcome(wiki.root, "Clippings/Locomotion.md") is Outcome.OK
    assert (wiki.root / "Clippings/Locomotion.md").read_text() == clip
