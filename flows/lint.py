"""Lint: what is wrong with the content of the vault as it is now, and the repairs that are safe, as a run.

Looking takes no lock and writes nothing. With `fix` the repairs of the pipeline's own blocks are committed as a run of
kind 'lint', which the diary shows like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from config.errors import StateError
from config.wiki import Wiki
from flows.bases import candidates_base
from flows.housework import Housework, housework
from flows.night_steps.embedding import embed_pages
from flows.night_steps.listing import ROUTING, index_path, note_text
from flows.night_steps.merging import propose
from flows.night_steps.reading_in import take_in
from flows.session import Session, looking
from flows.steps import StepRunner
from storage import tally
from storage.durable import write_file
from storage.readin import ReadIn, resolver
from tasks.commits import Changes, FileWrite
from tasks.embedding.near import Compared, compare
from tasks.lint.desk import Material
from tasks.lint.model import Issue
from tasks.lint.near_duplicates import SIMILAR, alike
from tasks.lint.registry import lint as find
from tasks.lint.repair import repaired
from tasks.pages.slugs import fold
from tasks.reading.evidence import decode_document
from tasks.records import Document, DocumentRecord, EmbeddingRecord, Finding, PageRecord
from tasks.text_bytes import encode

KIND = "lint"
_COMPARED = TypeAdapter(Compared)


@dataclass(frozen=True, slots=True)
class LintReport:
    """What lint found and, with `fix`, put right."""

    run: str  # empty when nothing was to be written
    findings: tuple[Finding, ...]  # that stand now
    fixed: tuple[Finding, ...] = ()  # that were put right, or with a dry run would be
    changed: tuple[str, ...] = ()  # vault paths written, or with a dry run to be written
    fresh: int = 0  # of the findings, those that the last lint with `fix` had not


def lint(wiki: Wiki, runner: StepRunner, now: str, fix: bool = False, dry_run: bool = False) -> LintReport:
    """Check the content of the vault as it is now. Raises BusyError when `fix` meets a run under way."""
    if fix and not dry_run:
        with housework(wiki, KIND, now) as work:
            return _fix(work, runner)
    with looking(wiki, KIND, now) as session:
        vault = runner.run("read the vault in", take_in, session).vault
        issues = runner.run("check", look, session, vault)
        if not fix:
            return LintReport("", tuple(issue.finding for issue in issues))
        pages = runner.run("repair", _repairs, vault, issues)
        return _report("", issues, {page.path for page in pages}, pages)


def look(session: Session, vault: ReadIn) -> tuple[Issue, ...]:
    """Everything that the checks find in a vault that was read in."""
    return find(_material(session, vault))


def _fix(work: Housework, runner: StepRunner) -> LintReport:
    session = work.session
    taken = runner.run("read the vault in", take_in, session)
    work.note(taken.written)
    issues = runner.run("check", look, session, taken.vault)
    pages = runner.run("repair", _repairs, taken.vault, issues)
    merges = runner.run("propose merges", _merges, session, taken.vault, pages)
    if merges:
        runner.run("commit", work.commit, (*merges, *candidates_base(session.wiki, session.state)))
    if pages:
        now = {**taken.vault.pages, **{page.id: page for page in pages}}
        embedded = runner.run("embed", embed_pages, session, [*now.values()], pages, runner)
        writes = [
            FileWrite(page.path, taken.vault.pages[page.id].file_hash, encode(page.markdown), Changes(pages=(page,)))
            for page in pages
        ]
        runner.run("commit", work.commit, writes, embedded.changes)
    proposed = [path for path in work.written if path.startswith(session.wiki.candidates_dir + "/")]
    report = _report(session.run, issues, set(work.written), pages, (*taken.written, *proposed))
    counted = tally.take(report.findings, tally.load(session.wiki.state_dir), session.now)
    tally.keep(session.wiki.state_dir, counted)
    return replace(report, fresh=counted.fresh)


def _repairs(vault: ReadIn, issues: Sequence[Issue]) -> tuple[PageRecord, ...]:
    paths = {page.path: page.id for page in vault.pages.values() if not page.deleted}
    return repaired(vault.pages, issues, resolver(paths))


def _merges(session: Session, vault: ReadIn, repaired_pages: Sequence[PageRecord]) -> tuple[FileWrite, ...]:
    live = {page.id: page for page in vault.pages.values() if not page.deleted}
    pairs = [(one, other) for one, other, _ in alike(live, _similar(session))]
    return propose(session, vault, pairs, {page.id for page in repaired_pages})


def _report(
    run: str, issues: Sequence[Issue], landed: set[str], pages: Sequence[PageRecord], also: Sequence[str] = ()
) -> LintReport:
    mended = {page.path for page in pages} & landed
    fixed = [issue.finding for issue in issues if issue.repair is not None and issue.finding.page in mended]
    left = [issue.finding for issue in issues if issue.repair is None or issue.finding.page not in mended]
    return LintReport(run, tuple(left), tuple(fixed), tuple(sorted({*mended, *also})))


# --- what lint is given ------------------------------------------------------------------------------------


def _material(session: Session, vault: ReadIn) -> Material:
    wiki, state = session.wiki, session.state
    stats = state.vault.scan(".", ()).files
    index = note_text(state.vault, index_path(wiki))
    changed = frozenset(
        source.id
        for source in session.rows.sources.values()
        if (stat := stats.get(source.location))
        and source.content_hash
        and (stat.size, stat.mtime_ns) != (source.size, source.mtime_ns)
        and state.vault.hash(source.location) != source.content_hash
    )
    return Material(
        pages=tuple(page for page in vault.pages.values() if not page.deleted),
        files=frozenset(stats),
        sources=session.rows.sources,
        changed_sources=changed,
        notes={index_path(wiki): index} if index is not None else {},
        routing=note_text(state.vault, ROUTING),
        pages_dir=wiki.pages_dir,
        contradictions=tuple(session.rows.contradictions.values()),
        similar=_similar(session),
        read=lambda path: note_text(state.vault, path),
        document=_Documents(session),
        deleted=_Deletions(session, vault),
    )


class _Documents:
    """What was read out of a source, decoded when it is asked for."""

    def __init__(self, session: Session) -> None:
        self._snapshot = session.state.reader.current()
        self._known: dict[str, Document | None] = {}

    def __call__(self, source_id: str) -> Document | None:
        if source_id not in self._known:
            rows = self._snapshot.rows("documents", [source_id]) if self._snapshot else ()
            found = [decode_document(row.document) for row in rows if isinstance(row, DocumentRecord)]
            self._known[source_id] = found[0] if found else None
        return self._known[source_id]


class _Deletions:
    """On which day a page went: by its record, or by the first kept snapshot that is without it."""

    def __init__(self, session: Session, vault: ReadIn) -> None:
        self._session = session
        self._live = {fold(page.slug) for page in vault.pages.values() if not page.deleted}
        self._days: dict[str, str] = {}
        for page in session.rows.pages.values():
            gone = vault.pages.get(page.id)
            self._days[fold(page.slug)] = gone.deleted if gone is not None else session.now
        self._past: Mapping[str, str] | None = None

    def __call__(self, stem: str) -> str:
        if stem in self._live:
            return ""
        if self._days.get(stem):
            return self._days[stem]
        if self._past is None:
            self._past = self._from_snapshots()
        return self._past.get(stem, "")

    def _from_snapshots(self) -> Mapping[str, str]:
        """A person's own note leaves no record behind, but the snapshots of its time still name it."""
        days: dict[str, str] = {}
        before: set[str] = set()
        reader = self._session.state.reader
        for manifest in reader.history():
            try:
                rows = reader.at(manifest.id).table("pages", ["slug", "deleted"]).to_pylist()
            except StateError:
                continue
            now = {fold(row["slug"]) for row in rows if not row["deleted"]}
            days |= dict.fromkeys(before - now, manifest.created)
            before = now
        return days


def _similar(session: Session) -> tuple[tuple[str, str, float], ...]:
    """Pairs of pages with nearly one embedding; what was compared before is kept in state by runs that write."""
    snapshot = session.state.reader.current()
    if snapshot is None:
        return ()
    rows = [row for row in snapshot.rows("embeddings") if isinstance(row, EmbeddingRecord)]
    path = session.wiki.state_dir / "lint" / "compared.json"
    try:
        before = _COMPARED.validate_json(path.read_bytes())
    except (FileNotFoundError, ValueError):
        before = Compared({})
    after = compare(rows, before, SIMILAR)
    if not session.dry and after != before:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, [_COMPARED.dump_json(after)])
    return after.pairs
