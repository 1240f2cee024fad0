"""Scaffold: the index made anew from the pages that there are, what stands above its marker kept byte for byte; and the
Bases, which a person may change."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from config.errors import MissingExtraError, ModelError
from config.wiki import Wiki
from flows.asking import WikiAsker, asker, decisions_published, pending_decisions
from flows.bases import attention_base, candidates_base
from flows.housework import housework
from flows.made_rows import MadeRows
from flows.night_steps.listing import index_path, note_text
from flows.night_steps.reading_in import take_in
from flows.session import Session, looking
from flows.steps import StepRunner
from flows.time_limit import TimedAsker
from storage.readin import ReadIn
from tasks.commits import Changes, FileWrite
from tasks.llm.ask import Asker
from tasks.navigation import scaffold as scaffolds
from tasks.navigation.grouping import Grouper
from tasks.navigation.grouping_by_model import ByModel
from tasks.navigation.index_page import Entry
from tasks.pages.slugs import fold
from tasks.records import EmbeddingRecord, PageRecord
from tasks.text_bytes import digest, encode, shown

KIND = "scaffold"

Grouped = Mapping[str, tuple[Entry, ...]]
"""Pages by category."""

UNNAMED = "no model named the new categories"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScaffoldReport:
    """What the index holds now."""

    run: str  # empty for a dry run
    index: str  # vault path
    categories: tuple[tuple[str, int], ...]  # name and number of pages
    changed: tuple[str, ...]  # vault paths written, or with a dry run to be written
    left: str = ""  # why the index was left alone
    note: str = ""  # why the language model had no say in new categories, when one is set


Connect = Callable[[Session], Asker | None]
"""Reaches the language model of a run; None when the wiki names none."""


def scaffold(
    wiki: Wiki,
    runner: StepRunner,
    now: str,
    dry_run: bool = False,
    make: bool = True,
    connect: Connect = asker,
) -> ScaffoldReport:
    """Make the index anew. Without `make` one that a person deleted stays deleted. Raises BusyError.

    `connect` reaches the language model, which has a say in new categories; a dry run asks none.
    """
    if dry_run:
        with looking(wiki, KIND, now) as session:
            vault = runner.run("read the vault in", take_in, session).vault
            writes, report = _draw(session, vault, make, None)
        note = "a dry run asks no model, which may find other categories" if wiki.settings.model else ""
        return replace(report, changed=tuple(sorted(write.path for write in writes)), note=note)
    with housework(wiki, KIND, now) as work:
        session = work.session
        taken = runner.run("read the vault in", take_in, session)
        work.note(taken.written)
        writes, report = runner.run("draw the index", _draw, session, taken.vault, make, connect)
        left = report.left
        if writes:
            decided = Changes(decisions=pending_decisions(session))
            done = runner.run("commit", work.commit, writes, decided)
            decisions_published(session)
            left = "; ".join(one.reason for one in done.refused) or left
        return replace(report, run=session.run, changed=work.written, left=left)


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


def _draw(
    session: Session, vault: ReadIn, make: bool, connect: Connect | None
) -> tuple[tuple[FileWrite, ...], ScaffoldReport]:
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
    vectors = cache(lambda: _vectors(session, vault))
    groups, note = None, ""
    if connect is not None:
        groups, note = _by_model(session, connect, partial(scaffolds.categories, before, entries, former, vectors))
    if groups is None:
        groups = scaffolds.categories(before, entries, former, vectors)
    sizes = tuple((shown(name), len(members)) for name, members in groups.items())
    report = ScaffoldReport("", path, sizes, (), note=note)
    made = scaffolds.with_categories(before, groups, MadeRows(state.reader, vault.pages.values()))
    if made == text:
        return bases, report
    return (FileWrite(path, None if text is None else digest(encode(text)), encode(made)), *bases), report


def _by_model(
    session: Session, connect: Connect, draw: Callable[[Grouper], Grouped]
) -> tuple[Grouped | None, str]:
    """The categories with the model's say in them, or None; and why it had none, when one is set."""
    model: Asker | None = None
    try:
        model = connect(session)
        return (draw(ByModel(TimedAsker(model, session.limit))), "") if model is not None else (None, "")
    except (ModelError, MissingExtraError) as error:
        log.warning(UNNAMED)  # no more than that: a refused answer may tell what pages are about
        return None, f"{UNNAMED}: {error}"
    finally:
        if isinstance(model, WikiAsker):
            model.close()


def _vectors(session: Session, vault: ReadIn) -> Mapping[str, bytes]:
    """The embeddings of the live pages by name; of several models those of the one that most pages have."""
    snapshot = session.state.reader.current()
    rows = [row for row in snapshot.rows("embeddings") if isinstance(row, EmbeddingRecord)] if snapshot else []
    models = Counter(row.model for row in rows)
    model = min(models, key=lambda name: (-models[name], name), default="")
    live = {page.id: page.slug for page in vault.pages.values() if not page.deleted}
    return {live[row.id]: row.vector for row in rows if row.model == model and row.id in live}
