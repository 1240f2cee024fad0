"""All checks, in the order in which they are told, and the one function that carries them out."""

from __future__ import annotations

from tasks.lint import (
    alias_links,
    ambiguous_links,
    branches,
    conflict_copies,
    dead_headings,
    dead_links,
    duplicate_aliases,
    duplicate_titles,
    lost_citations,
    malformed_properties,
    missing_attachments,
    name_clashes,
    near_duplicates,
    not_page_names,
    open_contradictions,
    orphans,
    stale,
    uncited,
    unquoted_links,
)
from tasks.lint.desk import Desk, Material
from tasks.lint.model import ERROR, Check, Issue

CHECKS: tuple[Check, ...] = (
    dead_links.CHECK,
    alias_links.CHECK,
    ambiguous_links.CHECK,
    dead_headings.CHECK,
    missing_attachments.CHECK,
    not_page_names.CHECK,
    malformed_properties.CHECK,
    lost_citations.CHECK,
    name_clashes.CHECK,
    conflict_copies.CHECK,
    unquoted_links.CHECK,
    duplicate_titles.CHECK,
    duplicate_aliases.CHECK,
    open_contradictions.CHECK,
    near_duplicates.CHECK,
    uncited.CHECK,
    stale.CHECK,
    branches.CHECK,
    orphans.CHECK,
)


def lint(material: Material) -> tuple[Issue, ...]:
    """Everything that the checks find, errors first, then by check, page and line."""
    desk = Desk(material)
    order = {check.name: number for number, check in enumerate(CHECKS)}
    found = [issue for check in CHECKS for issue in check.find(desk)]
    return tuple(
        sorted(
            found,
            key=lambda issue: (
                issue.finding.severity != ERROR,
                order[issue.finding.check],
                issue.finding.page,
                issue.finding.line,
                issue.finding.message,
            ),
        )
    )
