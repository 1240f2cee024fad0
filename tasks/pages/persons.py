"""Whether a page holds something of a person's, so that it may not simply go."""

from __future__ import annotations

import re

from tasks.markdown import properties
from tasks.pages.pages import CLAIMED
from tasks.records import Owner, PageRecord

_CONFLICT = re.compile(r"^<{7}(?: [^\r\n]*)?\r?$.*?^={7}\r?$.*?^>{7}(?: |\r?$)", re.M | re.S)


def is_unmerged(text: str) -> bool:
    """Whether a merge (of Git, or of a tool that does alike) has left both versions of a passage for a person."""
    return "<<<<<<<" in text and _CONFLICT.search(text) is not None


def wrote_on(page: PageRecord) -> bool:
    """Whether a person wrote anything that stands on the page: a block, a property, or a comment among these.

    Properties that cannot be read are a person's too, for the pipeline writes none such.
    """
    found = properties.read(page.markdown)
    own = set(found.values) - {known.key for known in page.properties}
    claimed = any(known.written.startswith(CLAIMED) for known in page.properties)
    person = any(block.owner is Owner.PERSON for block in page.blocks)
    return bool(own or found.problem or properties.comments(page.markdown)) or claimed or person


def holds_a_persons_work(page: PageRecord) -> bool:
    """Whether a person wrote on the page, or took something out of it."""
    return bool(page.removed or page.removed_properties) or wrote_on(page)
