"""Obsidian Bases (its core tables over notes' properties): one for the pages that wait, one for those that need a look.

A Base is YAML. Its columns are properties of the notes; boxes among them can be ticked in the table itself.
"""

from __future__ import annotations

import json

import yaml

CANDIDATES = "candidates.base"
ATTENTION = "needs-attention.base"


def candidates(folder: str) -> str:
    """The Base of a folder of candidates: confidence, reasons, sources and the two boxes."""
    return _text(
        {
            "filters": {"and": [_in(folder), 'file.ext == "md"']},
            "properties": {
                "file.name": {"displayName": "Page"},
                "note.candidate_of": {"displayName": "Updates"},
                "note.confidence": {"displayName": "Confidence"},
                "note.reasons": {"displayName": "Why it waits"},
                "note.sources": {"displayName": "Sources"},
                "note.promote": {"displayName": "Promote"},
                "note.discard": {"displayName": "Discard"},
            },
            "views": [
                {
                    "type": "table",
                    "name": "Waiting for review",
                    "order": [
                        "file.name",
                        "note.candidate_of",
                        "note.confidence",
                        "note.reasons",
                        "note.sources",
                        "note.promote",
                        "note.discard",
                    ],
                    "sort": [{"property": "file.ctime", "direction": "ASC"}],
                }
            ],
        }
    )


def attention(folder: str, candidates_folder: str) -> str:
    """The Base of the pages below a folder that are stale, contradicted or of low confidence."""
    within = [] if folder == "." else [_in(folder)]
    order = ["file.name", "note.status", "note.confidence", "note.updated", "note.sources"]

    def view(name: str, rule: str) -> dict[str, object]:
        return {"type": "table", "name": name, "filters": {"and": [rule]}, "order": order}

    return _text(
        {
            "filters": {
                "and": [
                    *within,
                    'file.ext == "md"',
                    {"not": [_in(candidates_folder)]},
                    {"or": ['status == "stale"', 'status == "contradicted"', 'confidence == "low"']},
                ]
            },
            "properties": {
                "file.name": {"displayName": "Page"},
                "note.status": {"displayName": "Status"},
                "note.confidence": {"displayName": "Confidence"},
                "note.updated": {"displayName": "Updated"},
                "note.sources": {"displayName": "Sources"},
            },
            "views": [
                {"type": "table", "name": "All", "order": order},
                view("Stale", 'status == "stale"'),
                view("Contradicted", 'status == "contradicted"'),
                view("Low confidence", 'confidence == "low"'),
            ],
        }
    )


def _in(folder: str) -> str:
    return f"file.inFolder({json.dumps(folder, ensure_ascii=False)})"


def _text(base: dict[str, object]) -> str:
    return yaml.dump(base, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1000)


class _Plain(yaml.SafeDumper):
    """Writes lists that stand in several places out in full, for Obsidian need not know YAML's references."""

    def ignore_aliases(self, data: object) -> bool:
        return True
