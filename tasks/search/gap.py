"""Whether a wiki covers what is asked: judged on keyword evidence alone, the same for hits, answers and packs.

A page that merely means something similar hides no gap. What counts is the share of the question's idf mass that the
best page by words holds, words that only ask ('how many') left out where no page holds them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.search import tokens
from tasks.search.bm25 import Match, idf

GAP = 0.35
"""Below this share of the question's idf mass on the best page, the wiki's words do not cover the question.

On the development corpora no question in a page's own words fell below it (2 % of HotpotQA's did), and half of those
whose page had been taken out.
"""

SMALL = 50
"""Pages below which a wiki's own counts say little about how telling a word is.

In a wiki of a few pages a word that all of them hold weighs next to nothing against one that none holds; there the
weights are those of a wiki of this size.
"""

ASKING = frozenset(
    tokens.terms(
        "many much long often old far big tall fast early late kind sort type call name named tell explain describe"
        " give list show find mean happen take come know say called does did please anything something someone"
        " wiki page note source speak write written"
    )
)
"""Terms that only ask; where no page holds them they are not what is missing."""


def is_gap(matches: Sequence[Match], docs: Sequence[int], pages: int) -> bool:
    """Whether none of the pages `docs`, of so many in the wiki, holds enough of what is asked."""
    told = [match for match in matches if len(match.docs) or match.term not in ASKING]
    weights = [idf(max(pages, SMALL), len(match.docs)) for match in told]
    found = np.array(docs, np.int32)
    held = np.zeros(len(docs))
    for match, weight in zip(told, weights, strict=True):
        if len(match.docs):
            place = np.minimum(np.searchsorted(match.docs, found), len(match.docs) - 1)
            held += weight * (match.docs[place] == found)
    return not docs or bool(held.max(initial=0.0) < GAP * sum(weights))
