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
        # German, French, Spanish, Italian, Portuguese, Dutch, Russian, but for what is an English word of its own:
        # a name is asked for in any language
        " wann wer wen wem wessen wie wo woher wohin warum wieso welche welcher welches wurde wurden wird werden"
        " ist sind waren hatte haben der das dem ein eine einer eines und von mit für über viele gibt es"
        " quand qui que quoi quel quelle quels quelles combien pourquoi où est sont était été fut ont le les du"
        " une et dans avec sur il elle ce cette est-ce qu'est-ce a-t-il a-t-elle a-t-on"
        " cuándo cuando quién quien qué cuál cuáles cuánto cuántos dónde donde cómo por fue fueron es está eran"
        " el los las una y en con para su"
        " quando chi cosa quale quali quanto quanti perché è sono stato stata fu il lo gli della dello di che"
        " quem qual quais quantos onde porque foi foram são o os um uma da em com"
        " wanneer wie wat waar waarom welk hoeveel werd zijn het een de"
        " когда кто что какой какая какие где почему как сколько был была было были в на и из"
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
