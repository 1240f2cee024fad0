"""What a person decides on a contradiction, carried out as a run of its own: one commit, which undo takes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.housework import housework
from flows.night_steps.embedding import embed_pages
from flows.night_steps.reading_in import take_in
from flows.session import Session, looking
from flows.steps import StepRunner
from storage.readin import ReadIn, resolver
from tasks.commits import Changes, FileWrite
from tasks.contradictions.claims import ContradictionRecord, Decision
from tasks.contradictions.decide import decided_page
from tasks.contradictions.page import open_shown
from tasks.records import PageRecord
from tasks.review import review
from tasks.text_bytes import digest, encode

KIND = "contradictions"
_STAGED = "a sentence that you decided against stands in text of yours"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person decides: on which contradiction, how, and why. The times are for `both`."""

    name: str             # id, or the slug of a page with one open contradiction
    decision: Decision
    reason: str = ""
    old_when: str = ""
    new_when: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of it."""

    run: str              # empty for a dry run
    row: ContradictionRecord
    page: str             # vault path of the page that it is on
    slug: str
    changed: tuple[str, ...]
    staged: str = ""      # vault path of a candidate, where text of the person's would change
    left: str = ""        # why the page is as it was


@dataclass(frozen=True, slots=True)
class _Drawn:
    row: ContradictionRecord
    page: PageRecord
    writes: tuple[FileWrite, ...]
    fresh: PageRecord
    staged: str


def decide(wiki: Wiki, runner: StepRunner, now: str, verdict: Verdict, dry_run: bool = False) -> Decided:
    """Carry out one decision. NightwikiError when no contradiction goes by the name, BusyError when a run goes on."""
    if dry_run:
        with looking(wiki, KIND, now) as session:
            drawn = _draw(session, take_in(session).vault, verdict)
            paths = tuple(sorted(write.path for write in drawn.writes))
            return Decided("", drawn.row, drawn.page.path, drawn.page.slug, paths, drawn.staged)
    with looking(wiki, KIND, now) as session:
        named(session.rows.contradictions, session.rows.pages, verdict)  # a wrong name leaves no failed run behind
    with housework(wiki, KIND, now) as work:
        taken = runner.run("read the vault in", take_in, work.session)
        work.note(taken.written)
        drawn = _draw(work.session, taken.vault, verdict)
        pages = {**taken.vault.pages, drawn.page.id: drawn.fresh}
        embedded = runner.run("embed", embed_pages, work.session, [*pages.values()], [drawn.fresh], runner)
        changes = replace(embedded.changes, contradictions=(drawn.row,))
        done = runner.run("commit", work.commit, drawn.writes, changes)
        left = "; ".join(f"{one.path}: {one.reason}" for one in done.refused)
        return Decided(work.session.run, drawn.row, drawn.page.path, drawn.page.slug, work.written, drawn.staged, left)


def named(
    records: Mapping[str, ContradictionRecord], pages: Mapping[str, PageRecord], verdict: Verdict
) -> ContradictionRecord:
    """The open contradiction that a person means: by its id or the beginning of it, or the only one of a page.

    NightwikiError when there is none, more than one, or it is decided already.
    """
    name = verdict.name.strip().removesuffix(".md").lower()
    live = open_shown(pages, records.values())
    found = [row for _, row in live if len(name) >= 4 and row.id.startswith(name)]
    if not found:
        found = [row for page, row in live if page.slug.lower() == name.rpartition("/")[2]]
    if len(found) == 1:
        return found[0]
    decided = records.get(name)
    if not found and decided is not None and decided.state is not Decision.OPEN:
        step = "To decide anew, take that run back: nightwiki undo RUN (nightwiki runs names it)"
        raise NightwikiError(verdict.name, f"is decided already: {decided.state}, {decided.decided[:10]}", step)
    cause = f"{len(found)} open contradictions go by this name" if found else "no open contradiction goes by this name"
    raise NightwikiError(verdict.name, cause, "See: nightwiki contradictions list")


def _draw(session: Session, vault: ReadIn, verdict: Verdict) -> _Drawn:
    records = dict(session.rows.contradictions)
    before = named(records, vault.pages, verdict)
    row = replace(
        before,
        state=verdict.decision,
        decided=session.now,
        note=verdict.reason,
        old_when=verdict.old_when,
        new_when=verdict.new_when,
    )
    page = vault.pages[row.page_id]
    paths = {one.path: one.id for one in vault.pages.values() if not one.deleted}
    resolve = resolver(paths)
    made = decided_page(page, row, {**records, row.id: row}, session.now, resolve)
    writes: list[FileWrite] = []
    if made.page.markdown != page.markdown:
        content = encode(made.page.markdown)
        writes.append(FileWrite(page.path, page.file_hash, content, Changes(pages=(made.page,))))
    staged = None
    if made.staged is not None:
        draft = review.Draft(
            page=made.staged,
            kind="update",
            target=page.path,
            base_hash=made.page.file_hash,
            before=made.page.markdown,
            reasons=(_STAGED,),
            proposal_hash=digest(encode(f"{row.id} {row.state}")),
            subject=row.subject,
        )
        known = vault.candidates.get(page.id)
        on_disk = vault.files.get(known.path) if known is not None else None
        staged = review.write_candidate(draft, session.wiki.candidates_dir, known, on_disk, session.now)
    if staged is not None:
        writes.append(staged)
    return _Drawn(row, page, tuple(writes), made.page, staged.path if staged is not None else "")
