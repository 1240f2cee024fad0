"""What a person and their programs do to the vault between two nights, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.wiki import Wiki, open_wiki
from flows.scaffold import scaffold
from flows.session import open_state
from flows.steps import DirectRunner
from tests import wikis
from tests.invariants import broken
from tests.wikis import COLOSSUS, ENIAC, SETTINGS, page, put, run

THIN = "# Abacus\n\nAn abacus is a counting frame.\n"
CORRECTED = ENIAC.replace("18,000", "17,468")


def _tick(wiki: Wiki, stem: str, box: str = "promote") -> None:
    text = page(wiki.root, f"candidates/{stem}")
    put(wiki.root, f"wiki/candidates/{stem}.md", text.replace(f"{box}: false", f"{box}: true"))


def _with_update(root: Path) -> Wiki:
    """A wiki in which an update waits, because a person reworded the sentence that its source corrected."""
    wiki = wikis.make(root, machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac").replace("completed in 1945", "finished in 1945"))
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("completed in 1945", "completed in 1946"))
    assert [line.kind for line in run(wiki, 2).waiting] == ["update"]
    return wiki


def test_a_page_that_left_the_pages_folder_is_kept_up_where_it_is(tmp_path: Path) -> None:
    """Its id tells which page it is; it does not count as deleted."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "Computers/eniac.md", page(wiki.root, "eniac"))
    (wiki.root / "wiki/eniac.md").unlink()
    put(wiki.root, "raw_sources/machine.md", CORRECTED)
    run(wiki, 2)
    run(wiki, 3)
    assert "17,468" in (wiki.root / "Computers/eniac.md").read_text() and not (wiki.root / "wiki/eniac.md").exists()


def test_another_pages_folder_leaves_the_old_pages_alive(tmp_path: Path) -> None:
    """Naming a new folder moves nothing and deletes nothing; pages are followed when the person moves them."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "nightwiki.yaml", SETTINGS + "pages:\n  dir: Pages\n")
    put(wiki.root, "raw_sources/machine.md", CORRECTED)
    put(wiki.root, "raw_sources/codes.md", COLOSSUS)
    run(open_wiki(wiki.root), 2)
    assert "17,468" in page(wiki.root, "eniac") and (wiki.root / "Pages/colossus.md").exists()


def test_links_and_the_index_follow_a_renamed_file(tmp_path: Path) -> None:
    """A file renamed outside of Obsidian leaves no dead link in what the pipeline wrote."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    (wiki.root / "wiki/eniac.md").rename(wiki.root / "wiki/The Giant.md")
    run(wiki, 2)
    assert "[[The Giant|ENIAC]]" in page(wiki.root, "colossus") and "[[The Giant|ENIAC]]" in page(wiki.root, "index")
    assert broken(wiki) == []


def test_a_deleted_page_leaves_the_index_and_comes_back_into_it(tmp_path: Path) -> None:
    """The generated list shows what is there."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    (wiki.root / "wiki/eniac.md").rename(tmp_path / "aside.md")
    run(wiki, 2)
    assert "eniac" not in page(wiki.root, "index")
    (tmp_path / "aside.md").rename(wiki.root / "wiki/eniac.md")
    run(wiki, 3)
    assert page(wiki.root, "index").count("[[eniac|ENIAC]]") == 1


def test_a_deleted_index_stays_deleted_and_a_folder_of_its_name_does_no_harm(tmp_path: Path) -> None:
    """Neither stops a night."""
    wiki = wikis.make(tmp_path / "w", SETTINGS + "digest:\n  note: Digest.md\n", machine=ENIAC)
    (wiki.root / "Digest.md").mkdir()
    run(wiki)
    (wiki.root / "wiki/index.md").unlink()
    (wiki.root / "wiki/index.md").mkdir()
    put(wiki.root, "raw_sources/codes.md", COLOSSUS)
    assert run(wiki, 2).created == 1


def test_a_renamed_candidate_is_followed_and_its_copy_is_not(tmp_path: Path) -> None:
    """The recorded file keeps the id; a box ticked in a copy does nothing."""
    wiki = wikis.make(tmp_path / "w", thin=THIN)
    run(wiki)
    put(wiki.root, "wiki/candidates/abacus 1.md", page(wiki.root, "candidates/abacus"))
    _tick(wiki, "abacus 1")
    assert run(wiki, 2).changed == ()
    (wiki.root / "wiki/candidates/abacus 1.md").unlink()
    (wiki.root / "wiki/candidates/abacus.md").rename(wiki.root / "wiki/candidates/Frame.md")
    _tick(wiki, "Frame")
    run(wiki, 3)
    assert (wiki.root / "wiki/abacus.md").exists() and not (wiki.root / "wiki/candidates/Frame.md").exists()


def test_a_candidate_is_no_page_when_its_folder_is_set_elsewhere(tmp_path: Path) -> None:
    """It still waits where it is, and nothing links to it."""
    wiki = wikis.make(tmp_path / "w", thin=THIN)
    run(wiki)
    put(wiki.root, "nightwiki.yaml", SETTINGS + "pages:\n  candidates: Review\n")
    report = run(open_wiki(wiki.root), 2)
    assert [line.slug for line in report.waiting] == ["abacus"] and not open_state(wiki).ledger.pages()


def test_a_candidate_dragged_among_the_pages_gets_no_twin(tmp_path: Path) -> None:
    """It is the person's note from then on; what its source says later has a name of its own."""
    wiki = wikis.make(tmp_path / "w", thin=THIN)
    run(wiki)
    (wiki.root / "wiki/candidates/abacus.md").rename(wiki.root / "wiki/abacus.md")
    put(wiki.root, "raw_sources/thin.md", THIN.replace("counting", "reckoning"))
    run(wiki, 2)
    run(wiki, 3)
    assert not (wiki.root / "wiki/candidates/abacus.md").exists()


def test_a_dry_run_tells_what_a_ticked_box_will_do(tmp_path: Path) -> None:
    """Its paths are those that the night then writes."""
    wiki = wikis.make(tmp_path / "w", thin=THIN)
    run(wiki)
    _tick(wiki, "abacus")
    planned = run(wiki, 2, dry_run=True)
    assert "wiki/abacus.md" in planned.changed and planned.changed == run(wiki, 2).changed


def test_an_update_ticked_too_late_is_made_again(tmp_path: Path) -> None:
    """The page was edited after the update was made: the tick is refused, and a fresh update shows the new page."""
    wiki = _with_update(tmp_path / "w")
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac") + "\nMy words.\n")
    _tick(wiki, "eniac.update")
    assert "has changed" in run(wiki, 3).problems[0].cause
    _tick(wiki, "eniac.update")
    run(wiki, 4)
    assert "1946" in page(wiki.root, "eniac") and "My words." in page(wiki.root, "eniac")


def test_an_update_follows_its_renamed_page_and_goes_with_a_deleted_one(tmp_path: Path) -> None:
    """Promotion writes the page where it is now; without a page there is nothing to update."""
    wiki = _with_update(tmp_path / "a")
    (wiki.root / "wiki/eniac.md").rename(wiki.root / "wiki/Giant.md")
    _tick(wiki, "eniac.update")
    run(wiki, 3)
    assert "1946" in page(wiki.root, "Giant") and not (wiki.root / "wiki/eniac.md").exists()
    other = _with_update(tmp_path / "b")
    (other.root / "wiki/eniac.md").unlink()
    run(other, 3)
    assert list((other.root / "wiki/candidates").glob("*.md")) == []


def test_a_name_taken_by_a_folder_makes_the_page_wait(tmp_path: Path) -> None:
    """The page is not lost, and nothing lists what is not there."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    (wiki.root / "wiki/eniac.md").mkdir(parents=True)
    report = run(wiki)
    assert report.problems[0].subject == "wiki/eniac.md" and "[[eniac" not in page(wiki.root, "index")
    assert (report.created, report.staged) == (0, 1)
    assert (wiki.root / "wiki/candidates/eniac.md").exists() and broken(wiki) == []


def test_conflict_copies_and_other_bytes_are_the_persons(tmp_path: Path) -> None:
    """A second file with the same id, an emptied page and bytes that are no UTF-8 stay as they are."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    copy = page(wiki.root, "eniac") + "\nmine\n"
    put(wiki.root, "wiki/eniac (conflicted copy 2026-03-01).md", copy)
    put(wiki.root, "wiki/colossus.md", "")
    with (wiki.root / "wiki/eniac.md").open("ab") as file:
        file.write(b"\ncaf\xe9\n")
    put(wiki.root, "raw_sources/machine.md", CORRECTED)
    put(wiki.root, "raw_sources/codes.md", COLOSSUS.replace("1,600", "1,700"))
    run(wiki, 2)
    assert page(wiki.root, "eniac (conflicted copy 2026-03-01)") == copy and page(wiki.root, "colossus") == ""
    raw = (wiki.root / "wiki/eniac.md").read_bytes()
    assert raw.endswith(b"\ncaf\xe9\n") and b"17,468" in raw


def test_a_page_behind_a_link_out_of_the_vault_is_not_written(tmp_path: Path) -> None:
    """What was to be written there waits as an update."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    before = page(wiki.root, "eniac")
    (wiki.root / "wiki/eniac.md").rename(tmp_path / "outside.md")
    (wiki.root / "wiki/eniac.md").symlink_to(tmp_path / "outside.md")
    put(wiki.root, "raw_sources/machine.md", CORRECTED)
    run(wiki, 2)
    assert (tmp_path / "outside.md").read_text() == before
    assert "17,468" in page(wiki.root, "candidates/eniac.update")


def test_a_log_of_thousands_of_equal_lines_is_read_at_once(tmp_path: Path) -> None:
    """A note may say the same thing very often."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    put(wiki.root, "wiki/Log.md", "nothing new\n\n" * 20_000)
    assert run(wiki).created == 1


def test_a_read_only_page_waits_as_an_update(tmp_path: Path) -> None:
    """It stays byte for byte, and is told of once."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    before = page(wiki.root, "eniac")
    (wiki.root / "wiki/eniac.md").chmod(0o444)
    put(wiki.root, "raw_sources/machine.md", CORRECTED)
    report = run(wiki, 2)
    assert report.problems[0].cause == "the file is read-only" and [one.slug for one in report.waiting] == ["eniac"]
    assert (report.updated, report.staged) == (0, 1)
    assert page(wiki.root, "eniac") == before and "17,468" in page(wiki.root, "candidates/eniac.update")
    assert run(wiki, 3).changed == () and broken(wiki) == []


def test_a_person_who_made_an_update_late_keeps_footnotes_together(tmp_path: Path) -> None:
    """The update that is made anew from page and update parts no two definitions, whoever changed them."""
    wiki = _with_update(tmp_path / "w")
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac") + "\nMy words.\n")
    _tick(wiki, "eniac.update")
    run(wiki, 3)
    body = page(wiki.root, "candidates/eniac.update").partition("[^nw-995417f7]:")[2]
    assert "\n\n[^nw-" not in body


def test_links_follow_two_pages_that_changed_names(tmp_path: Path) -> None:
    """Where nothing else touched a file since; one in which Obsidian led the links already stays as it is."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    pages = wiki.root / "wiki"
    (pages / "eniac.md").rename(pages / "aside.md")
    (pages / "colossus.md").rename(pages / "eniac.md")
    (pages / "aside.md").rename(pages / "colossus.md")
    run(wiki, 2)
    index = page(wiki.root, "index")
    assert "[[colossus|ENIAC]]" in page(wiki.root, "eniac") and "[[eniac|Colossus]]" in index
    assert "[[colossus|ENIAC]]" in index and broken(wiki) == [] and run(wiki, 3).changed == ()
    text = page(wiki.root, "eniac").replace("[[colossus|ENIAC]]", "[[eniac|ENIAC]]")
    (pages / "eniac.md").rename(pages / "aside.md")
    (pages / "colossus.md").rename(pages / "eniac.md")
    (pages / "aside.md").unlink()
    put(wiki.root, "wiki/colossus.md", text)
    run(wiki, 4)
    assert page(wiki.root, "colossus") == text and broken(wiki) == []


def test_a_page_with_the_marks_of_a_merge_is_not_written(tmp_path: Path) -> None:
    """What its source now says waits until the person has chosen, and is then brought in."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    text = page(wiki.root, "eniac")
    ours, theirs = (text.replace("forty panels", f"{number} panels") for number in ("sixty", "fifty"))
    at = text.index("The machine was")
    both = f"{text[:at]}<<<<<<< HEAD\n{ours[at:]}=======\n{theirs[at:]}>>>>>>> other\n"
    put(wiki.root, "wiki/eniac.md", both)
    put(wiki.root, "raw_sources/machine.md", CORRECTED)
    report = run(wiki, 2)
    assert page(wiki.root, "eniac") == both and "from a merge" in report.waiting[0].reasons[-1]
    put(wiki.root, "wiki/eniac.md", ours)
    for day in (3, 4):  # too late for the update as it was made
        _tick(wiki, "eniac.update")
        run(wiki, day)
    assert "17,468" in page(wiki.root, "eniac") and "sixty panels" in page(wiki.root, "eniac")
    assert "<<<<" not in page(wiki.root, "eniac") and "## Design" in page(wiki.root, "eniac")


def test_lists_in_utf_16_are_left_alone(tmp_path: Path) -> None:
    """A line in UTF-8 would make the rest of the file unreadable."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    mine = "## Machines\n\n- [[eniac]]\n".encode("utf-16")
    for path in ("wiki/index.md", "ROUTING.md"):
        (wiki.root / path).write_bytes(mine)
    put(wiki.root, "raw_sources/codes.md", COLOSSUS)
    assert run(wiki, 2).changed == ("wiki/colossus.md",)
    assert "no file that can be read" in scaffold(wiki, DirectRunner(), "2026-03-03T12:00:00Z").left
    assert all((wiki.root / path).read_bytes() == mine for path in ("wiki/index.md", "ROUTING.md"))


@pytest.mark.parametrize("stem", ["abacus", "Abacus (from the bin)"])
def test_a_candidate_that_is_back_waits_again(tmp_path: Path, stem: str) -> None:
    """A sync tool took it away for a while, or a person has it out of the bin: its boxes count."""
    wiki = wikis.make(tmp_path / "w", thin=THIN)
    run(wiki)
    text = page(wiki.root, "candidates/abacus")
    (wiki.root / "wiki/candidates/abacus.md").unlink()
    assert run(wiki, 2).waiting == ()
    put(wiki.root, f"wiki/candidates/{stem}.md", text)
    assert [one.slug for one in run(wiki, 3).waiting] == ["abacus"]
    _tick(wiki, stem)
    run(wiki, 4)
    assert (wiki.root / "wiki/abacus.md").exists() and not (wiki.root / f"wiki/candidates/{stem}.md").exists()


@pytest.mark.parametrize("name", ["ENIAC #1", "ENIAC [old]", "one|two", "x^2 %%", "a` b"])
def test_links_lead_to_a_page_whose_new_name_allows_no_wikilink(tmp_path: Path, name: str) -> None:
    """As Markdown links, in the index too; there its line is told from a person's, and goes with the page."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    (wiki.root / "wiki/eniac.md").rename(wiki.root / f"wiki/{name}.md")
    run(wiki, 2)
    put(wiki.root, "raw_sources/more.md", COLOSSUS.replace("Colossus", "Colossus II"))
    run(wiki, 3)
    assert broken(wiki) == [] and "[ENIAC](" in page(wiki.root, "colossus") and "- [ENIAC](" in page(wiki.root, "index")
    scaffold(wiki, DirectRunner(), "2026-03-04T02:00:00Z")
    assert page(wiki.root, "index").count("[ENIAC](") == 1
    (wiki.root / f"wiki/{name}.md").rename(wiki.root / "wiki/Giant.md")
    run(wiki, 5)
    assert broken(wiki) == [] and "- [[Giant|ENIAC]]" in page(wiki.root, "index")


def test_the_digest_goes_into_no_page_and_no_text_of_another_encoding(tmp_path: Path) -> None:
    """A note that a person named for it, and that is one of these, stays as it is; the page stays a page."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "Mine.md").write_bytes(before := "Täglich\n".encode("utf-16"))
    for note in ("Mine.md", "wiki/eniac.md"):
        put(wiki.root, "nightwiki.yaml", SETTINGS + f"digest:\n  note: {note}\n")
        put(wiki.root, "raw_sources/codes.md", COLOSSUS.replace("1943", "1942") if note == "Mine.md" else COLOSSUS)
        run(open_wiki(wiki.root), 2)
    assert (wiki.root / "Mine.md").read_bytes() == before and "came in" not in page(wiki.root, "eniac")
    assert "[[eniac|" in page(wiki.root, "index") and broken(wiki) == []


def test_property_names_in_capitals_are_the_same_properties(tmp_path: Path) -> None:
    """As for Obsidian: an id so spelt tells which page it is, and a status and a title say what they say."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(wiki)
    text = page(wiki.root, "eniac").replace("nightwiki_id:", "Nightwiki_ID:").replace("title: ENIAC", "Title: Giant")
    (wiki.root / "wiki/eniac.md").unlink()
    put(wiki.root, "wiki/Giant Brain.md", text.replace("status: active", "Status: archived") + "\nMine.\n")
    run(wiki, 2)
    (row,) = [one for one in open_state(wiki).ledger.pages().values() if one.slug == "Giant Brain"]
    assert (row.title, row.status, row.adopted) == ("Giant", "archived", False) and broken(wiki) == []
