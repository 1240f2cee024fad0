"""The compiler with a model: the steps of a night over all sources that are to be decided on, as concurrent as may be.

Analyse all sources; find and decide for each; bring the decisions together; write page by page, on one page source by
source; put the concerned pages together. What the model is asked depends on sources, pages and purpose alone, so a
night that was cut off asks nothing twice.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from config.settings import Chunks
from tasks.compiling.compile import Compilation, CompileRequest, Given, KnownPage, Material, Remark, Verdict
from tasks.compiling.subjects import key_of
from tasks.llm.ask import Asker, ModelError
from tasks.pages.linking import Names, mentions
from tasks.records import Chunk, Outcome
from tasks.writing import analyse, decide, semantic, settle, write
from tasks.writing.analyse import Notes
from tasks.writing.comparing import compare
from tasks.writing.contribution import Contribution, Share, encode
from tasks.writing.decide import Decisions
from tasks.writing.failures import Failures
from tasks.writing.find import Draft, Finder
from tasks.writing.page import Stand, lay_out, propose
from tasks.writing.passages import Passage, Passages, passages, shortened
from tasks.writing.purpose import Purpose
from tasks.writing.resolve import Group, Member, resolve
from tasks.writing.standing import Standing
from tasks.writing.write import Task

log = logging.getLogger(__name__)

THREADS = 8
"""Sources or pages under way at once. How many questions are really asked at once is the asker's business; more than
twice as many threads would only let the long ones wait behind the short."""

_TOLD = 2  # sentences left out that the report quotes, of one source
_TARGETS = 40  # titles of other pages that a prompt lists
_SPLIT = 16_000  # characters up to which the main subject's page is written from the whole source


def basis(purpose: Purpose) -> str:
    """Under what sources are decided on: the wording of the prompts, and the purpose."""
    versions = (analyse.VERSION, decide.VERSION, write.VERSION, settle.VERSION, purpose.digest)
    return hashlib.sha256("\x1f".join(versions).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ModelCompiler:
    """Writes pages with a model. With `fallback` a source that the model fails on is quoted until it does better."""

    asker: Asker
    fallback: bool = False
    cutting: Chunks = field(default_factory=Chunks)  # of long texts that a model cuts by topics
    longest: int = 2_000_000  # characters of one source that are read
    threads: int = THREADS

    def compile(self, request: CompileRequest) -> Compilation:
        """The pages that the changed sources concern."""
        if request.material is None:
            raise ValueError("a compiler with a model needs the documents")
        with ThreadPoolExecutor(self.threads) as sources, ThreadPoolExecutor(self.threads) as windows:
            return _Night(self, request, request.material, sources, windows).compile()


@dataclass(slots=True)
class _Work:
    """One source on its way through the steps."""

    source_id: str
    passages: Passages
    cut: str  # what of the source is not read, in words
    former: Contribution | None
    notes: Notes | None = None
    decisions: Decisions | None = None
    shares: dict[str, Share] = field(default_factory=dict)
    chunks: tuple[Chunk, ...] = ()
    trouble: list[str] = field(default_factory=list)  # calls that failed without ending its way; threads append


class _Night:
    """One compilation; the steps in their order."""

    def __init__(
        self,
        compiler: ModelCompiler,
        request: CompileRequest,
        material: Material,
        sources: ThreadPoolExecutor,
        windows: ThreadPoolExecutor,
    ) -> None:
        self._asker, self._fallback, self._cutting = compiler.asker, compiler.fallback, compiler.cutting
        self._longest = compiler.longest
        self._request, self._material = request, material
        self._sources, self._windows = sources, windows
        self._purpose = Purpose(material.purpose)
        self._basis = basis(self._purpose)
        self._failures = Failures()
        self._settled: dict[str, Contribution] = {}  # sources of this run that are decided on already
        self._live = frozenset(request.topics)
        self._standing = Standing(request, material, self._failures if compiler.fallback else ())
        self._pages = {page.id: page for page in (*request.pages, *material.waiting)}

    def compile(self) -> Compilation:
        work = {one.source_id: one for one in self._work()}
        self._each(work, self._analyse)
        drafts = [
            Draft(one.source_id, topic) for one in work.values() if one.notes is not None for topic in one.notes.topics
        ]
        shown = [page for page in self._pages.values() if not page.deleted]
        self._finder = Finder(shown, drafts, self._material.search, self._opening)
        self._each(work, self._decide)
        groups = resolve(self._to_place(work), Finder(self._pages.values(), drafts, lambda _: (), lambda _: ""))
        self._names = Names.of(
            sorted((page.id, page.title, page.aliases) for page in shown)
            + [(f"new {group.subject}", group.title, ()) for group in groups if group.page is None]
        )
        self._titles = {page.id: page.title for page in shown} | {f"new {g.subject}": g.title for g in groups}
        longest = sorted(groups, key=lambda group: -sum(len(one.judged.topic.claims) for one in group.members))
        for written in self._sources.map(lambda group: self._write_group(group, work), longest):
            for source_id, share in written:
                work[source_id].shares[share.subject] = share
        contributions = {
            source_id: self._contribution(one) for source_id, one in work.items() if source_id not in self._failures
        }
        self._standing.take(contributions)
        return self._put_together(contributions, groups, work)

    # --- steps

    def _work(self) -> Iterator[_Work]:
        for source_id in sorted(self._material.asked & self._live):
            document = self._material.document(source_id)
            found = replace(passages(replace(document, source_id=source_id)), target=self._standing.target(source_id))
            found, cut = shortened(found, self._longest, self._standing.facts(source_id).language)
            former = self._standing.former(source_id)
            if former is not None and former.digest == found.digest and former.basis == self._basis:
                self._settled[source_id] = former
                continue
            yield _Work(source_id, found, cut, former)

    def _each(self, work: Mapping[str, _Work], step: Callable[[_Work], None]) -> None:
        """A step for every source that has come so far, each in a thread."""

        def guarded(one: _Work) -> None:
            try:
                self._failures.before()
                step(one)
            except ModelError as error:
                self._failures.note(one.source_id, error)

        pending = [one for one in work.values() if one.source_id not in self._failures]
        pending.sort(key=lambda one: (-len(one.passages.all), one.source_id))
        for _ in self._sources.map(guarded, pending):
            pass

    def _analyse(self, one: _Work) -> None:
        starts: tuple[int, ...] = ()
        document = self._material.document(one.source_id)
        if semantic.wanted(document):
            topics = semantic.topic_starts(self._asker, one.passages, self._windows.map)
            starts = topics.starts
            one.trouble += topics.trouble
            one.chunks = semantic.chunks(one.passages, starts, self._cutting.size, self._cutting.overlap)
        one.notes = analyse.analyse(self._asker, one.passages, self._windows.map, starts)

    def _decide(self, one: _Work) -> None:
        assert one.notes is not None
        if not one.notes.topics:
            one.decisions = Decisions(True, "the model found no fact in it", ())
            return
        offers = [self._finder.offers(one.source_id, topic) for topic in one.notes.topics]
        one.decisions = decide.decide(self._asker, one.passages.title, one.notes, offers, self._purpose)

    def _to_place(self, work: Mapping[str, _Work]) -> dict[str, tuple[decide.Judged, ...]]:
        return {
            one.source_id: one.decisions.judged
            for one in work.values()
            if one.decisions is not None and one.source_id not in self._failures
        }

    def _write_group(self, group: Group, work: Mapping[str, _Work]) -> list[tuple[str, Share]]:
        """What each source of a group gives to the page, one after the other, so that each sees what is there."""
        if group.page is not None and group.page.deleted:
            return []
        writing = {member.source_id for member in group.members}
        stands = {
            stand.facts.source_id: stand
            for stand in self._standing.on(group.subject, group.page)
            if stand.facts.source_id not in writing
        }
        kept = [member for member in group.members if self._same(member, group, work[member.source_id])]
        for member in kept:
            share = self._former_share(work[member.source_id], group.subject)
            assert share is not None
            stands[member.source_id] = Stand(self._standing.facts(member.source_id), share)
        found = [(member.source_id, stands[member.source_id].share) for member in kept]
        for member in group.members:
            if member in kept or member.source_id in self._failures:
                continue
            one = work[member.source_id]
            try:
                self._failures.before()
                share = self._write(group, member, one, tuple(stands.values()))
            except ModelError as error:
                self._failures.note(member.source_id, error)
                continue
            stands[member.source_id] = Stand(self._standing.facts(member.source_id), share, fresh=True)
            found.append((member.source_id, share))
        return found

    def _write(self, group: Group, member: Member, one: _Work, stands: Sequence[Stand]) -> Share:
        topic, decision = member.judged.topic, member.judged.decision
        names = tuple(dict.fromkeys((group.title, topic.title, *topic.aliases, *decision.aliases)))
        former = self._former_share(one, group.subject)
        own = self._rechecked(former, one.passages, names) if former is not None else None
        before = (*stands, Stand(self._standing.facts(one.source_id), own)) if own is not None else tuple(stands)
        read = self._passages_for(one, member)
        persons = self._material.persons(group.page.id) if group.page is not None else ()
        task = Task(
            subject=group.subject,
            title=group.title,
            names=names,
            source=one.passages,
            passages=read,
            sheet=lay_out(before).placed,
            persons=persons,
            targets=self._targets(read, group),
            version=group.subject,
        )
        text = write.write(self._asker, task, own.superseded if own is not None else ())
        one.trouble += text.trouble
        page_id = group.page.id if group.page is not None and group.page in self._request.pages else ""
        compared = compare(text.found, one.passages, page_id, group.subject, self._standing.facts)
        return Share(
            subject=group.subject,
            title=group.title,
            action="flag" if decision.action == "flag" else "create" if group.page is None else "update",
            reason=decision.reason,
            aliases=tuple(name for name in names if name != group.title),
            type=decision.type,
            tags=tuple(decision.tags),
            doubt=" ".join(filter(None, (decision.doubt, text.doubt))),
            rivals=member.rivals,
            blocks=text.blocks,
            superseded=text.superseded,
            left_out=text.left_out,
            wanted=tuple(name for name in text.wanted if not self._known(name)),
            clashes=compared.clashes,
            refused=compared.refused,
        )

    def _passages_for(self, one: _Work, member: Member) -> tuple[Passage, ...]:
        """The passages that speak of a subject; of a short source's main subject all of them."""
        claimed = {claim.passage.number for claim in member.judged.topic.claims}
        assert one.notes is not None
        main = one.notes.topics[0].key == member.judged.topic.key
        if main and sum(len(passage.text) for passage in one.passages.all) <= _SPLIT:
            elsewhere = {claim.passage.number for topic in one.notes.topics[1:] for claim in topic.claims}
            return tuple(p for p in one.passages.all if p.number in claimed or p.number not in elsewhere)
        return tuple(passage for passage in one.passages.all if passage.number in claimed)

    def _targets(self, read: Iterable[Passage], group: Group) -> tuple[str, ...]:
        text = "\n".join(passage.text for passage in read)
        named = sorted(self._titles[name] for name in mentions(text, self._names) if name in self._titles)
        return tuple(title for title in dict.fromkeys(named) if title != group.title)[:_TARGETS]

    def _known(self, name: str) -> bool:
        return key_of(name) in {key_of(title) for title in self._titles.values()}

    # --- what was decided before

    @staticmethod
    def _former_share(one: _Work, subject: str) -> Share | None:
        shares = one.former.shares if one.former is not None else ()
        return next((share for share in shares if share.subject == subject), None)

    def _same(self, member: Member, group: Group, one: _Work) -> bool:
        """Whether a source is decided on as before, from the same text: then what it wrote stays as it is."""
        former = self._former_share(one, group.subject)
        if former is None or one.former is None or one.former.digest != one.passages.digest:
            return False
        flagged = member.judged.decision.action == "flag"
        return flagged == (former.action == "flag")

    @staticmethod
    def _rechecked(former: Share, source: Passages, names: Sequence[str]) -> Share:
        """The former share with the sentences that the source, as it is now, still bears out."""
        blocks = []
        for block in former.blocks:
            lines = [line for old in block.lines if (line := settle.recheck(old, source, names)) is not None]
            if lines:
                blocks.append(replace(block, lines=tuple(lines)))
        return replace(former, blocks=tuple(blocks), clashes=())

    def _contribution(self, one: _Work) -> Contribution:
        found = one.decisions
        if found is None:
            raise AssertionError("a source without a decision has failed")
        if not found.in_scope:
            return Contribution(one.source_id, one.passages.digest, self._basis, "out_of_scope", found.reason)
        shares = tuple(one.shares[subject] for subject in sorted(one.shares) if one.shares[subject].blocks)
        reason = found.reason or "; ".join(
            dict.fromkeys(
                judged.decision.reason or "skipped by the model"
                for judged in found.judged
                if judged.decision.action == "skip"
            )
        )
        if not shares and not reason:
            reason = "none of the sentences written from it is borne out by it"
        digest = one.passages.digest
        return Contribution(one.source_id, digest, self._basis, "ok" if shares else "skipped", reason, shares, one.cut)

    # --- pages

    def _put_together(
        self, contributions: Mapping[str, Contribution], groups: Sequence[Group], work: Mapping[str, _Work]
    ) -> Compilation:
        by_subject = {subject: page for page in self._request.pages for subject in page.subjects if not page.adopted}
        touched = {group.subject for group in groups}
        for source_id in (*self._request.changed, *contributions):
            touched.update(self._material.subjects.get(source_id, ()))
        changed = self._request.changed | set(contributions)
        for known in self._request.pages:
            if known.subjects and not known.adopted and not changed.isdisjoint(known.sources):
                touched.add(known.subjects[0])
        if self._fallback:
            touched.update(self._request.topics[one][0] for one in self._failures if one in self._live)
        proposals, retired = [], []
        rivals = {group.subject: [rival for m in group.members for rival in m.rivals] for group in groups}
        skipped: dict[str, str] = {}
        for subject in sorted(touched):
            page = by_subject.get(subject)
            stands = self._standing.on(subject, page)
            if page is not None and page.deleted:
                gone = f"its page '{page.title}' was deleted by a person"
                skipped |= {stand.facts.source_id: gone for stand in stands}
                continue
            proposal = propose(subject, page.id if page else "", stands, tuple(dict.fromkeys(rivals.get(subject, ()))))
            if proposal is not None:
                proposals.append(proposal)
            elif page is not None and page.sources and not set(page.sources) - changed - self._known_sources(page):
                retired.append(page.id)
        for group in groups:
            if group.page is not None and group.page.deleted:
                gone = f"its page '{group.page.title}' was deleted by a person"
                skipped |= {member.source_id: gone for member in group.members}
        verdicts = dict(self._failures.verdicts())
        for source_id, one in (self._settled | dict(contributions)).items():
            if one.verdict == "out_of_scope":
                step = "Change purpose.md if it does belong"
                verdicts[source_id] = Verdict(Outcome.OUT_OF_SCOPE, one.reason, step)
            elif one.verdict == "skipped":
                skipped.setdefault(source_id, one.reason)
        return Compilation(
            tuple(proposals),
            tuple(retired),
            skipped,
            verdicts,
            {
                source_id: Given(encode(one), one.basis, tuple(share.subject for share in one.shares))
                for source_id, one in contributions.items()
            },
            tuple(_remarks(contributions, work)),
            {one.source_id: one.chunks for one in work.values() if one.chunks and one.source_id in contributions},
            frozenset(contributions),
        )

    def _known_sources(self, page: KnownPage) -> set[str]:
        """The sources of a page of which it is known that they give nothing to it any longer."""
        return {one for one in page.sources if one not in self._live or self._standing.former(one) is not None}

    def _opening(self, page_id: str) -> str:
        waiting = {page.id for page in self._material.waiting}
        return "" if page_id in waiting else self._material.opening(page_id)


def _remarks(contributions: Mapping[str, Contribution], work: Mapping[str, _Work]) -> Iterator[Remark]:
    """What a person should know of the compiled sources: calls that failed, sentences left out, pages to be wanted."""
    for source_id, one in contributions.items():
        for text in sorted(set(work[source_id].trouble)) if source_id in work else ():
            yield Remark(source_id, text)
        left_out = list(dict.fromkeys(text for share in one.shares for text in share.left_out))
        if left_out:
            more = f"; and {len(left_out) - _TOLD} more sentences" if len(left_out) > _TOLD else ""
            yield Remark(source_id, f"left out: {'; '.join(left_out[:_TOLD])}{more}")
        for text in (text for share in one.shares for text in share.refused):
            log.info("%s: %s", source_id, text)
        wanted = list(dict.fromkeys(name for share in one.shares for name in share.wanted))
        if wanted:
            yield Remark(source_id, f"pages it would link to: {', '.join(wanted)}")
