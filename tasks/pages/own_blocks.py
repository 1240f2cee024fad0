"""A page's own blocks as a proposal again, so that a page is put together anew without compiling it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tasks.markdown import properties
from tasks.markdown.blocks import references, split
from tasks.pages import linking
from tasks.pages.ownership import is_pipeline_id
from tasks.pages.pages import DEFINITION
from tasks.records import Owner, PageRecord, ProposedBlock


def own_blocks(page: PageRecord, unlinked: Sequence[str] = ()) -> list[ProposedBlock]:
    """The blocks that proposals have given a page, as they stand on it.

    Those that are still the pipeline's come without links to the pages named in `unlinked`.
    """
    found = []
    for record, block in zip(page.blocks, split(properties.read(page.markdown).body), strict=True):
        if record.id.startswith(DEFINITION) or not is_pipeline_id(record.id):
            continue
        ours = unlinked and record.owner is Owner.PIPELINE
        text = linking.unlink(block.text, unlinked) if ours else block.text
        used = set(references(text))
        cited = tuple(citation for citation in page.citations if citation.label in used)
        found.append(ProposedBlock(record.id, block.kind, text, cited, block.level))
    return found


def remembering(made: PageRecord, page: PageRecord) -> PageRecord:
    """A page put together anew, with the former one's memory of what compilers proposed for blocks that stay."""
    before = {block.id: block for block in page.blocks}
    blocks = tuple(
        before[block.id] if block.id in before and before[block.id].hash == block.hash else block
        for block in made.blocks
    )
    return replace(made, blocks=blocks)
