"""What a compiled wiki is worth by the set: facts kept, citations, inventions, doubles, contradictions.

Pages are read as they lie in the vault, sources as they were written; nothing of the compiler's own judgement is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compile_gold import Gold
from tasks.compiling import subjects
from tasks.contradictions.claims import ContradictionRecord
from tasks.coverage.check import Quoted, State, check
from tasks.coverage.quotes import locate
from tasks.markdown import properties

_CITED = re.compile(r"(.+?)((?:\[\^nw-[0-9a-f]+\])+)", re.S)
_LABEL = re.compile(r"\[\^(nw-[0-9a-f]+)\]")
_DEFINITION = re.compile(r'^\[\^(nw-[0-9a-f]+)\]: \[\[([^\]#|]+)(?:#[^\]]*)?\]\] "(.*)"$', re.M)
_LINK = re.compile(r"\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|([^\]]*))?\]\]")
_HEADING = re.compile(r"^#+ .*$", re.M)
_CALLOUT = re.compile(r"^>.*$", re.M)


@dataclass(frozen=True, slots=True)
class Scores:
    """Shares from 0 to 1, and counts."""

    pages: int
    waiting: int
    facts_kept: float
    citation_precision: float  # citations whose words stand in their source and cover the sentence
    citation_recall: float  # sentences that have such a citation
    invented: int  # sentences that say what no source says
    forbidden: int  # words of the list that stand on a published page
    outside: int  # words of sources that do not belong
    duplicate_pages: int
    dead_links: int
    contradictions_found: int
    contradictions_real: int
    false_contradictions: int
    lost: tuple[str, ...] = ()  # facts that no page keeps
    wrong: tuple[str, ...] = ()  # sentences that are invented


@dataclass(frozen=True, slots=True)
class _Sentence:
    page: str
    text: str
    cited: tuple[tuple[str, str], ...]  # name of the source, and quoted words


def judge(gold: Gold, vault: Path, rows: Sequence[ContradictionRecord], scoped: bool) -> Scores:
    """The scores of a vault. `scoped`: the compiler knows the purpose, so what does not belong must be missing."""
    published = sorted(path for path in (vault / "wiki").glob("*.md") if path.stem != "index")
    waiting = sorted((vault / "wiki" / "candidates").glob("*.md"))
    said = [one for path in published for one in _sentences(path)]
    held = [one for path in waiting for one in _sentences(path)]
    texts = {one.name: one.flat for one in gold.sources}
    kept, lost = 0, []
    for source in gold.sources:
        pool = [*said, *held] if source.held else said
        for keys in source.facts:
            if any(all(key in one.text or key in _unlinked(one.text) for key in keys) for one in pool):
                kept += 1
            else:
                lost.append(f"{source.name}: {', '.join(keys)}")
    total = kept + len(lost)
    good = bad = covered = 0
    wrong = []
    for one in said:
        context = " ".join((one.page, *(s.title for s in gold.sources if s.name in dict(one.cited))))
        verdict = check(one.text, [Quoted(words, texts.get(name, "")) for name, words in one.cited], context)
        standing = sum(bool(locate(words, texts.get(name, ""))) for name, words in one.cited)
        bears = verdict.state is State.COVERED
        good += standing if bears else 0
        bad += len(one.cited) - (standing if bears else 0)
        covered += bears
        if verdict.state is State.INVENTED:
            wrong.append(f"{one.page}: {one.text} ({verdict.reason})")
    whole = "\n".join(path.read_text(encoding="utf-8") for path in published)
    stems = {path.stem for path in vault.rglob("*.md")} | {str(p.relative_to(vault))[:-3] for p in vault.rglob("*.md")}
    real = [row for row in rows if _is_real(gold, row)]
    return Scores(
        pages=len(published),
        waiting=len(waiting),
        facts_kept=round(kept / total, 4) if total else 1.0,
        citation_precision=round(good / (good + bad), 4) if good + bad else 1.0,
        citation_recall=round(covered / len(said), 4) if said else 1.0,
        invented=len(wrong),
        forbidden=sum(word in whole for word in gold.forbidden),
        outside=sum(word in whole for word in gold.outside) if scoped else 0,
        duplicate_pages=_doubles(gold, [*published, *waiting]),
        dead_links=sum(match[1].strip() not in stems for match in _LINK.finditer(whole)),
        contradictions_found=len({row.id for row in real}),
        contradictions_real=sum(pair.real for pair in gold.pairs),
        false_contradictions=len(rows) - len(real),
        lost=tuple(lost),
        wrong=tuple(wrong),
    )


def _sentences(path: Path) -> Iterator[_Sentence]:
    text = path.read_text(encoding="utf-8")
    found = properties.read(text)
    title = properties.string(found.values, "title")
    definitions = {label: (place, words) for label, place, words in _DEFINITION.findall(found.body)}
    body = _CALLOUT.sub("", _HEADING.sub("", _DEFINITION.sub("", found.body)))
    for paragraph in re.split(r"\n\s*\n|\n(?=[-*] )", body):
        rest = paragraph
        for words, labels in _CITED.findall(paragraph):
            rest = rest.replace(words + labels, "", 1)
            cited = [definitions[label] for label in _LABEL.findall(labels) if label in definitions]
            names = tuple((place.rpartition("/")[2], _plain(quote)) for place, quote in cited)
            yield _Sentence(title, _plain(_unlinked(words)), names)
        if rest.strip(" -*\n"):
            yield _Sentence(title, _plain(_unlinked(rest)), ())


def _unlinked(text: str) -> str:
    return _LINK.sub(lambda match: match[2] or match[1], text)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\\(?=[\W_])", "", text).strip(" -*\n").replace("==", "").split())


def _doubles(gold: Gold, paths: Sequence[Path]) -> int:
    """Pages beyond the first that speak of one subject of the set."""
    subject_of = {subjects.key_of(name): one.subject for one in gold.sources for name in (one.title, one.subject)}
    counted: Counter[str] = Counter()
    for path in paths:
        title = properties.string(properties.read(path.read_text(encoding="utf-8")).values, "title")
        if subjects.key_of(title) in subject_of and not path.name.endswith(".update.md"):
            counted[subject_of[subjects.key_of(title)]] += 1
    return sum(count - 1 for count in counted.values())


def _is_real(gold: Gold, row: ContradictionRecord) -> bool:
    both = {" ".join(row.old.quote.split()), " ".join(row.new.quote.split())}
    texts = {one.name: one for one in gold.sources}
    for pair in gold.pairs:
        if not pair.real:
            continue
        old = next((line.words for line in texts[pair.old].text if line.say == pair.says), pair.says)
        if all(any(words in one or one in words for one in both) for words in (old, pair.words)):
            return True
    return False
