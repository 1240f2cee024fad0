"""ROUTING.md: made once from the index, validated, and cleaned of entries whose page is gone. Else it is the user's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.housework import housework
from flows.night_steps.listing import ROUTING, index_path, note_text
from flows.night_steps.reading_in import take_in
from flows.scaffold import entries_of, listed_pages
from flows.session import Session, looking
from flows.steps import StepRunner
from storage.readin import ReadIn
from tasks.commits import FileWrite
from tasks.markdown import links
from tasks.navigation import branches, index_page, scaffold
from tasks.navigation.branches import Cleaned, Lost
from tasks.pages.slugs import fold
from tasks.records import Finding
from tasks.text_bytes import digest, encode, shown

KIND = "routing-clean"
INIT = "routing-init"


@dataclass(frozen=True, slots=True)
class RoutingReport:
    """What became of the table."""

    run: str  # empty for a dry run, or where there was nothing to do
    removed: tuple[str, ...] = ()  # targets of the entries that went
    renamed: tuple[str, ...] = ()  # former targets of entries whose page is called otherwise now
    branches: tuple[tuple[str, int], ...] = ()  # of a new table: name and number of pages
    outside: int = 0  # pages that a new table lists in no branch
    lost: Lost | None = None  # what a table that was replaced held
    changed: tuple[str, ...] = ()
    left: str = ""  # why nothing was done


def init(wiki: Wiki, runner: StepRunner, now: str, force: bool = False, dry_run: bool = False) -> RoutingReport:
    """Make ROUTING.md from the categories of the index. NightwikiError when there is one and not `force`."""
    if (wiki.root / ROUTING).exists() and not force:
        raise NightwikiError(
            str(wiki.root / ROUTING),
            "there is one already, and it is yours",
            "--force replaces it, and says what is lost",
        )
    if dry_run:
        with looking(wiki, INIT, now) as session:
            return _drawn(session, runner.run("read the vault in", take_in, session).vault)[1]
    with housework(wiki, INIT, now) as work:
        taken = runner.run("read the vault in", take_in, work.session)
        work.note(taken.written)
        write, report = runner.run("draw the branches", _drawn, work.session, taken.vault)
        refused = runner.run("commit", work.commit, [write] if write else []).refused
        left = "; ".join(one.reason for one in refused) or report.left
        return RoutingReport(
            work.session.run,
            branches=report.branches,
            outside=report.outside,
            lost=report.lost,
            changed=work.written,
            left=left,
        )


def validate(wiki: Wiki, now: str) -> tuple[Finding, ...]:
    """What is wrong with ROUTING.md, by line; nothing when there is none. Looks only."""
    with looking(wiki, KIND, now) as session:
        text = note_text(session.state.vault, ROUTING)
        if text is None:
            return ()
        vault = take_in(session).vault
        return tuple(branches.validate(text, _index(session, vault), _former(vault)))


def clean(wiki: Wiki, runner: StepRunner, now: str, dry_run: bool = False) -> RoutingReport:
    """Remove the entries whose page is gone and lead those of renamed pages there; all else stays byte for byte."""
    if not (wiki.root / ROUTING).is_file():
        return RoutingReport("", left=f"there is no {ROUTING}")
    if dry_run:
        with looking(wiki, KIND, now) as session:
            write, cleaned = _cleaned(session, take_in(session).vault)
        return RoutingReport("", cleaned.removed, cleaned.renamed, changed=(write.path,) if write else ())
    with housework(wiki, KIND, now) as work:
        taken = runner.run("read the vault in", take_in, work.session)
        work.note(taken.written)
        write, cleaned = runner.run("clean", _cleaned, work.session, taken.vault)
        refused = runner.run("commit", work.commit, [write]).refused if write else ()
        if refused:
            return RoutingReport(
                work.session.run, changed=work.written, left="; ".join(one.reason for one in refused)
            )
        return RoutingReport(work.session.run, cleaned.removed, cleaned.renamed, changed=work.written)


def _drawn(session: Session, vault: ReadIn) -> tuple[FileWrite | None, RoutingReport]:
    entries, former = entries_of(listed_pages(session.wiki, vault.pages.values()))
    index = note_text(session.state.vault, index_path(session.wiki)) or ""
    groups = scaffold.categories(index, entries, former)
    inside = {name: members for name, members in groups.items() if name != index_page.REST}
    before = note_text(session.state.vault, ROUTING)
    if not inside:
        return None, RoutingReport("", outside=len(entries), left="the index has no categories to make branches of")
    report = RoutingReport(
        "",
        branches=tuple((shown(name), len(members)) for name, members in inside.items()),
        outside=len(groups.get(index_page.REST, ())),
        lost=branches.lost(before) if before is not None else None,
        changed=(ROUTING,),
    )
    expected = digest(encode(before)) if before is not None else None
    return FileWrite(ROUTING, expected, encode(branches.table(groups))), report


def _cleaned(session: Session, vault: ReadIn) -> tuple[FileWrite | None, Cleaned]:
    text = note_text(session.state.vault, ROUTING)
    if text is None:
        return None, Cleaned("")
    cleaned = branches.clean(text, _index(session, vault), _former(vault))
    write = FileWrite(ROUTING, digest(encode(text)), encode(cleaned.text)) if cleaned.text != text else None
    return write, cleaned


def _index(session: Session, vault: ReadIn) -> links.LinkIndex:
    """Every file of the vault: an entry that leads to any of them is not gone."""
    paths: Collection[str] = session.state.vault.scan(".", ()).files
    aliases = {page.path: page.aliases for page in vault.pages.values() if page.aliases and not page.deleted}
    return links.LinkIndex(paths, aliases)


def _former(vault: ReadIn) -> dict[str, str]:
    return {fold(old): page.slug for page in vault.pages.values() if not page.deleted for old in page.former_slugs}
