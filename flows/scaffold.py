"""Scaffold: the index made anew from the pages that there are, what stands above its marker kept byte for byte; and the
Bases, which a person may change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from config.wiki import Wiki
from flows.bases import attention_base, candidates_base
from flows.housework import housework
from flows.listing import index_path, note_text
from flows.reading_in import take_in
from flows.session import Session, looking
from flows.steps import StepRunner
from storage.readin import ReadIn
from tasks.commits import FileWrite
from tasks.navigation import scaffold as scaffolds
from tasks.navigation.index_page import Entry
from tasks.pages.slugs import fold
from tasks.records import EmbeddingRecord, PageRecord
from tasks.text_bytes import digest, encode, shown

KIND = "scaffold"


@dataclass(frozen=True, slots=True)
class ScaffoldReport:
    """What the index holds now."""

    run: str  # empty for a dry run
    index: str  # vault path
    categories: tuple[tuple[str, int], ...]  # name and number of pages
    changed: tuple[str, ...]  # vault paths written, or with a dry run to be written
    left: str = ""  # why the index was left alone


def scaffold(wiki: Wiki, runner: StepRunner, now: str, dry_run: bool = False, make: bool = True) -> ScaffoldReport:
    """Make the index anew. Without `make` one that a person deleted stays deleted. Raises BusyError."""
    if dry_run:
        with looking(wiki, KIND, now) as session:
            vault = runner.run("read the vault in", take_in, session).vault
            writes, report = _draw(session, vault, make)
        paths = tuple(sorted(write.path for write in writes))
        return ScaffoldReport("", report.index, report.categories, paths, report.left)
    with housework(wiki, KIND, now) as work:
        taken = runner.run("read the vault in", take_in, work.session)
        work.note(taken.written)
        writes, report = runner.run("draw the index", _draw, work.session, taken.vault, make)
        refused = runner.run("commit", work.commit, writes).refused if writes else ()
        left = "; ".join(one.reason for one in refused) or report.left
        return ScaffoldReport(work.session.run, report.index, report.categories, work.written, left)


def listed_pages(wiki: Wiki, pages: Collection[PageRecord]) -> tuple[PageRecord, ...]:
    """The pages that the index lists: those of the pages folder, and all that the pipeline wrote."""
    folder = wiki.pages_dir
    return tuple(
        page
        for page in pages
        if not page.deleted and (not page.adopted or folder == "." or page.path.startswith(folder + "/"))
    )


def entries_of(pages: Collection[PageRecord]) -> tuple[tuple[Entry, ...], dict[str, str]]:
    """What the index says of pages, and the present name of each by its folded former ones."""
    entries = tuple(Entry(page.slug, page.title, scaffolds.summary(page.markdown), page.tags) for page in pages)
    former = {fold(old): page.slug for page in pages for old in page.former_slugs}
    return entries, former


def _draw(session: Session, vault: ReadIn, make: bool) -> tuple[tuple[FileWrite, ...], ScaffoldReport]:
    wiki, state = session.wiki, session.state
    path = index_path(wiki)
    text = note_text(state.vault, path)
    entries, former = entries_of(listed_pages(wiki, vault.pages.values()))
    bases = (*candidates_base(wiki, state), *attention_base(wiki, state)) if entries else ()
    if text is None and (wiki.root / path).exists():
        return bases, ScaffoldReport("", path, (), (), f"{path} is no file that can be read")
    if text is None and ((not make and state.runs.deleted_by_person(path)) or not entries):
        why = f"{path} was deleted by a person; `nightwiki scaffold` makes it again" if entries else ""
        return bases, ScaffoldReport("", path, (), (), why)
    before = f"# {wiki.name}\n" if text is None else text
    groups = scaffolds.categories(before, entries, former, lambda: _vectors(session, vault))
    report = ScaffoldReport("", path, tuple((shown(name), len(members)) for name, members in groups.items()), ())
    made = scaffolds.with_categories(before, groups)
    if made == text:
        return bases, report
    return (FileWrite(path, None if text is None else digest(encode(text)), encode(made)), *bases), report


def _vectors(session: Session, vault: ReadIn) -> Mapping[str, bytes]:
    """The embeddings of the live pages by name; of several models those of the one that most pages have."""
    snapshot = session.state.reader.current()
    rows = [row for row in snapshot.rows("embeddings") if isinstance(row, EmbeddingRecord)] if snapshot else []
    models = Counter(row.model for row in rows)
    model = min(models, key=lambda name: (-models[name], name), default="")
    live = {page.id: page.slug for page in vault.pages.values() if not page.deleted}
    return {live[row.id]: row.vector for row in rows if row.model == model and row.id in live}
