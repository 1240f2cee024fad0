"""Which pages a question may find: the filters that terminal, REST, MCP and context packs share."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from tasks.search.moments import beginning
from tasks.search.postings import Postings
from tasks.search.tokens import fold

LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all must hold; an empty one asks nothing. Of several values one must fit, of tags every one."""

    tag: tuple[str, ...] = ()
    status: tuple[str, ...] = ()  # without it, archived pages are out
    type: tuple[str, ...] = ()
    branch: tuple[str, ...] = ()
    path: tuple[str, ...] = ()  # a folder, a file, or a glob
    source: tuple[str, ...] = ()  # a source's id, or the vault path that citations point to
    confidence_min: str = ""  # pages without a confidence are a person's own, and pass
    updated_after: str = ""  # a day or time (see `tasks.search.moments`), inclusive
    updated_before: str = ""  # a day or time, exclusive


def allowed(filters: Filters, facets: Postings) -> NDArray[np.bool_]:
    """One truth value a page, from the facets of the index."""
    mask = np.ones(len(facets.lengths), np.bool_)
    for tag in filters.tag:
        mask &= _any(facets, [f"tag:{fold(tag.lstrip('#'))}"])
    if filters.status:
        mask &= _any(facets, [f"status:{status}" for status in filters.status])
    else:
        mask &= ~_any(facets, ["status:archived"])
    for key in ("type", "branch", "source"):
        values: tuple[str, ...] = getattr(filters, key)
        if values:
            mask &= _any(facets, [f"{key}:{value}" for value in values])
    if filters.confidence_min:
        good = LEVELS[LEVELS.index(filters.confidence_min) :]
        mask &= _any(facets, ["confidence:", *(f"confidence:{level}" for level in good)])
    if filters.path:
        mask &= _paths(facets, filters.path)
    if filters.updated_after:
        mask &= _range(facets, f"updated:{beginning(filters.updated_after)}", "updated;")
    if filters.updated_before:
        mask &= _range(facets, "updated:0", f"updated:{beginning(filters.updated_before)}")
    return mask


def _any(facets: Postings, terms: list[str]) -> NDArray[np.bool_]:
    mask = np.zeros(len(facets.lengths), np.bool_)
    for term in terms:
        mask[facets.of_term(term)[0]] = True
    return mask


def _range(facets: Postings, first: str, end: str) -> NDArray[np.bool_]:
    """Pages with a facet in [first, end), by byte order."""
    start, stop = facets.terms.between(*(edge.encode("utf-8", "surrogatepass") for edge in (first, end)))
    mask = np.zeros(len(facets.lengths), np.bool_)
    mask[facets.docs[facets.bounds[start] : facets.bounds[stop]]] = True
    return mask


def _paths(facets: Postings, wanted: tuple[str, ...]) -> NDArray[np.bool_]:
    mask = np.zeros(len(facets.lengths), np.bool_)
    start, stop = facets.terms.between(b"path:", b"path;")
    for pattern in wanted:
        if any(sign in pattern for sign in "*?["):
            for number in range(start, stop):
                if fnmatchcase(facets.terms[number].decode("utf-8", "surrogatepass")[5:], pattern):
                    mask[facets.docs[facets.bounds[number] : facets.bounds[number + 1]]] = True
        else:
            folder = pattern.rstrip("/")
            mask |= _any(facets, [f"path:{folder}"]) | _range(facets, f"path:{folder}/", f"path:{folder}0")
    return mask
