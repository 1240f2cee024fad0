"""Whose block is whose after a person has saved a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tasks.markdown.blocks import normal_hash, split
from tasks.pages.ownership import Alignment, align
from tasks.records import BlockRecord, Owner

OLD = """# Title

The first paragraph speaks of relays and of switches.

## History

The second paragraph tells how the machine came to be built.

- one fact
- another fact

The last paragraph names the people who worked on it.
"""
IDS = ["title", "lead", "h:history", "history", "facts", "people"]


def resolve(target: str) -> str:
    """No page is known."""
    return ""


def recorded(body: str = OLD) -> list[BlockRecord]:
    """The pipeline's record of a body."""
    found = split(body)
    hashes = [normal_hash(block.kind, block.text, resolve) for block in found]
    return [
        BlockRecord(name, block.kind, text_hash, Owner.PIPELINE)
        for name, block, text_hash in zip(IDS, found, hashes, strict=False)
    ]


def after(new: str, old: str = OLD) -> Alignment:
    """The alignment after a person made `old` into `new`."""
    return align(recorded(old), split(new), resolve, split(old))


def owners(found: Alignment) -> list[str]:
    """Ids, with '!' where the person owns the block and '@' where they placed it; own blocks as 'u'."""
    return [
        ("u" if block.id.startswith("u-") else block.id)
        + ("!" if block.owner is Owner.PERSON and not block.id.startswith("u-") else "")
        + ("@" if block.placed else "")
        for block in found.blocks
    ]


@pytest.mark.parametrize(
    ("change", "want", "removed"),
    [
        (("", ""), IDS, ()),
        (("relays", "gears"), ["title", "lead!", *IDS[2:]], ()),
        (("## History\n\n", ""), ["title", "lead", "history", "facts", "people"], ("h:history",)),
        (("## History", "My own.\n\n## History"), ["title", "lead", "u", *IDS[2:]], ()),
        (
            ("- another fact", "- another fact\n- mine"),
            ["title", "lead", "h:history", "history", "facts!", "people"],
            (),
        ),
        (
            ("how the machine", "how\n\nthe machine"),
            ["title", "lead", "h:history", "u", "history!", "facts", "people"],
            (),
        ),
        (
            ("switches.\n\n## History\n\nThe second", "switches. The second"),
            ["title", "history!", "facts", "people"],
            ("lead", "h:history"),
        ),
        (
            ("The first paragraph speaks of relays and of switches.", "Quite other words."),
            ["title", "u", *IDS[2:]],
            ("lead",),
        ),
        (("# Title", "# Title\n\n# Title"), ["u", *IDS], ()),
    ],
)
def test_edits_claim_their_block_and_no_other(
    change: tuple[str, str], want: list[str], removed: tuple[str, ...]
) -> None:
    """Edited, deleted, added, extended, split, joined, replaced and copied blocks."""
    found = after(OLD.replace(*change))
    assert owners(found) == want and found.removed == removed


def test_a_moved_block_keeps_its_owner() -> None:
    """A block that stands elsewhere is the same block, and known to be placed by hand."""
    moved = OLD.replace("- one fact\n- another fact\n\n", "").replace(
        "The first", "- one fact\n- another fact\n\nThe first"
    )
    assert owners(after(moved)) == ["title", "facts@", "lead", "h:history", "history", "people"]


def test_a_copied_block_is_the_persons() -> None:
    """Of two equal blocks the one in its place is the pipeline's."""
    copied = OLD + "\n## History\n"
    assert owners(after(copied)) == [*IDS, "u"]


def test_without_history_every_block_is_the_persons() -> None:
    """A page that no record knows belongs to the person from end to end, and every id is unlike the others."""
    found = align((), split(OLD + "\n***\n\n***\n"), resolve)
    assert all(block.owner is Owner.PERSON for block in found.blocks) and found.removed == ()
    assert len({block.id for block in found.blocks}) == len(found.blocks)


def test_an_own_block_keeps_its_id_when_it_is_edited_or_moved() -> None:
    """Ids of a person's blocks last, and they never count as removed."""
    own = OLD + "\nMy paragraph about the museum in Munich.\n"
    first = after(own)
    second = align(first.blocks, split(own.replace("museum", "big museum")), resolve, split(own))
    assert first.blocks[-1].id == second.blocks[-1].id
    assert align(second.blocks, split(OLD), resolve, split(own)).removed == ()


def test_a_link_whose_page_is_gone_claims_nothing() -> None:
    """When a page comes or goes, links to it in other pages do not turn into edits."""
    text = "A [[zuse|Zuse]] sentence.\n"

    def known(target: str) -> str:
        return "pg-1"

    record = [BlockRecord("a", split(text)[0].kind, normal_hash(split(text)[0].kind, text, known), Owner.PIPELINE)]
    found = align(record, split(text + "\nNew.\n"), resolve, split(text))
    assert found.blocks[0].owner is Owner.PIPELINE


def test_a_lost_block_that_comes_back_is_known() -> None:
    """Undoing a deletion gives the block its id and owner again; another text does not."""
    gone = after(OLD.replace("- one fact\n- another fact\n\n", ""))
    back = align(gone.blocks, split(OLD), resolve, (), gone.lost)
    assert owners(back) == IDS and back.removed == () and back.lost == ()
    other = align(gone.blocks, split(OLD.replace("one fact", "no fact")), resolve, (), gone.lost)
    assert "u" in owners(other) and other.removed == ("facts",)


def test_owners_pass_on() -> None:
    """A block that was claimed stays claimed, whatever is done to it later."""
    first = after(OLD.replace("relays", "gears"))
    second = align(first.blocks, split(OLD), resolve, split(OLD.replace("relays", "gears")))
    assert owners(second) == ["title", "lead!", *IDS[2:]]
    assert second.blocks[1] == replace(recorded()[1], owner=Owner.PERSON)
