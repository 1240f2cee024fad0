"""An answer offered as a page: it waits among the candidates, each sentence with the citations it had."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.housework import housework
from flows.night_steps.reading_in import take_in
from flows.session import Session, looking
from flows.steps import StepRunner
from storage.readin import ReadIn, resolver
from tasks.answers.answering import Answer, Reference, Sentence
from tasks.commits import FileWrite
from tasks.compiling.material import label
from tasks.compiling.proposed import proposal_hash
from tasks.markdown.escape import escape_inline, escape_paragraph
from tasks.markdown.links import anchor_link
from tasks.pages.merge import new_page
from tasks.pages.slugs import file_stem
from tasks.records import BlockKind, Citation, PageProposal, ProposedBlock
from tasks.review import review

KIND = "save"
_REASON = "an answer that you saved"
_LONGEST_TITLE = 90
_LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Saved:
    """Where the answer waits."""

    run: str  # empty for a dry run
    slug: str
    path: str  # vault path of the candidate
    left: str = ""  # why it was not written


def save(wiki: Wiki, runner: StepRunner, now: str, answer: Answer, dry_run: bool = False) -> Saved:
    """Offer an answer as a candidate. NightwikiError when it holds nothing or was offered before, BusyError when a run
    goes on."""
    kept = [one for one in answer.sentences if one.citations]
    if answer.state != "answered" or not kept:
        raise NightwikiError("answer", "holds nothing that could be a page", "Ask what the wiki covers")
    with looking(wiki, KIND, now) as session:
        write, slug = _draw(session, take_in(session).vault, answer)
        if dry_run:
            return Saved("", slug, write.path)
    with housework(wiki, KIND, now) as work:
        taken = runner.run("read the vault in", take_in, work.session)
        work.note(taken.written)
        write, slug = _draw(work.session, taken.vault, answer)
        done = runner.run("commit", work.commit, (write,))
        left = "; ".join(f"{one.path}: {one.reason}" for one in done.refused)
        return Saved(work.session.run, slug, write.path, left)


def _draw(session: Session, vault: ReadIn, answer: Answer) -> tuple[FileWrite, str]:
    """The write of the candidate, and the page's slug."""
    page_id = hashlib.sha256(f"answer {' '.join(answer.question.lower().split())}".encode()).hexdigest()[:12]
    known, live = vault.candidates.get(page_id), vault.pages.get(page_id)
    if live is not None and not live.deleted:
        raise NightwikiError(answer.question, f"is answered by a page already: {live.path}", "Edit that page")
    title = " ".join(answer.question.split()).rstrip("?？.! ")[:_LONGEST_TITLE].rstrip()
    taken = {page.slug for page in vault.pages.values()} | {one.slug for one in vault.candidates.values()}
    stem = (
        known.slug if known is not None else file_stem(title, page_id, taken, session.wiki.settings.pages.file_name)
    )
    path = f"{session.wiki.pages_dir}/{stem}.md"
    proposal = proposed(answer, title)
    paths = {page.path: page.id for page in vault.pages.values() if not page.deleted}
    links = {row.id: anchor_link(row.evidence or row.location, "") for row in session.rows.sources.values()}
    page = new_page(proposal, page_id, path, session.now, links, resolver(paths)).record
    draft = review.Draft(page, "new", path, "", "", (_REASON,), proposal_hash(proposal), f"{review.ANSWER}{page_id}")
    on_disk = vault.files.get(known.path) if known is not None else None
    write = review.write_candidate(draft, session.wiki.candidates_dir, known, on_disk, session.now)
    if write is None:
        raise NightwikiError(answer.question, "was saved before", "See: nightwiki candidates list")
    return write, stem


def proposed(answer: Answer, title: str) -> PageProposal:
    """The page that an answer makes: its paragraphs, and links to the pages it was told from."""
    by_number = {one.number: one for one in answer.citations}
    paragraphs: dict[int, list[Sentence]] = {}
    for sentence in answer.sentences:
        paragraphs.setdefault(sentence.paragraph, []).append(sentence)
    blocks = []
    for number, sentences in enumerate(paragraphs.values()):
        cited: list[Citation] = []
        texts = []
        for sentence in sentences:
            found = _citations(sentence, [by_number[one] for one in sentence.citations if one in by_number])
            cited += found
            marks = "".join(f"[^{one.label}]" for one in found)
            texts.append(f"{escape_paragraph(sentence.text)}{marks}")
        blocks.append(
            ProposedBlock(f"answer:{number}", BlockKind.PARAGRAPH, " ".join(texts), tuple(dict.fromkeys(cited)))
        )
    pages = {one.slug: one for one in answer.citations if one.slug}
    links = ", ".join(f"[[{slug}|{escape_inline(one.title)}]]" for slug, one in pages.items())
    if links:
        blocks.append(ProposedBlock("told-from", BlockKind.PARAGRAPH, f"Told from {links}."))
    sources = dict.fromkeys(cited.source for one in answer.citations for cited in one.sources if cited.source)
    confidence = [one.confidence for one in answer.citations if one.confidence in _LEVELS]
    lowest = min(confidence, key=_LEVELS.index, default="medium")
    return PageProposal(
        "", "", title, tuple(blocks), tuple(sources), type="answer", confidence=lowest, reasons=(_REASON,)
    )


def _citations(sentence: Sentence, references: Sequence[Reference]) -> list[Citation]:
    """What a sentence relies on: of each passage the source's words that say the same, else all behind it."""
    found = []
    for reference in references:
        behind = [one for one in reference.sources if one.source]
        same = [one for one in behind if " ".join(one.quote.split()) in sentence.text or sentence.text in one.quote]
        for one in same or behind:
            name = label(one.source, one.place, one.quote)
            found.append(Citation(one.source, one.location, one.place, one.quote, name))
    return list(dict.fromkeys(found))
