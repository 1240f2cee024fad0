"""The compiler that quotes: from documents to pages."""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Mapping
from itertools import permutations

import pytest

from tasks.compiling import choice
from tasks.compiling.analysis import decode
from tasks.compiling.compile import Compilation, CompileRequest, KnownPage, SourceNotes
from tasks.compiling.confidence import stands
from tasks.compiling.extractive import ExtractiveCompiler, analyse, analyse_document
from tasks.records import BlockKind, Document, PageProposal, Part

HTML = """# ENIAC

ENIAC (Electronic Numerical Integrator and Computer) was a programmable computer. It was built in Philadelphia.

## Construction

The machine contained 17,468 vacuum tubes. It weighed 30 tons and filled a large room. Subscribe to our newsletter!

## Service

ENIAC was moved to Aberdeen in Maryland in 1947. It ran there for eight years. The army used it for firing tables.

## See also

- Colossus
- Zuse Z3"""
NOTE = """# Electronic Numerical Integrator and Computer

The machine contained 17,468 vacuum tubes.

## Programmers

Six women wrote the first programs. Kathleen McNulty was one of them.

## Service

ENIAC was moved to Aberdeen in Maryland in 1946. Lightning struck it twice."""
ARTICLE = """# Early machines

The first computers were built in the 1940s in three countries at once. Each of them was alone in its way.

## ENIAC

Cables were plugged by hand for every new problem.

## Zuse Z3

Relays clicked in Berlin. Film carried the programs of the machine."""
A, B, C = "a" * 12, "b" * 12, "c" * 12


def document(source: str, text: str, title: str = "", media: str = "html", **facts: object) -> Document:
    """A document from simple Markdown, a part for each block."""
    parts = []
    for number, block in enumerate(text.strip().split("\n\n"), 1):
        level = len(block) - len(block.lstrip("#")) if block.startswith("#") and " " in block else 0
        kind = BlockKind.PARAGRAPH
        if level:
            kind = BlockKind.HEADING
        elif block.startswith("- "):
            kind = BlockKind.LIST
        elif block.startswith("| "):
            kind = BlockKind.TABLE
        parts.append(Part(kind, block.lstrip("#").strip() if level else block, level, f"^p{number}"))
    return Document(source, title, tuple(parts), media, target=f"evidence/{source}.md", **facts)  # type: ignore[arg-type]


def compiled(
    documents: Mapping[str, Document], pages: tuple[KnownPage, ...] = (), changed: frozenset[str] | None = None
) -> Compilation:
    notes = {source: decode(analyse_document(found)[0]) for source, found in documents.items()}
    topics = {source: found.topics for source, found in notes.items()}

    def read(source: str) -> SourceNotes:
        return SourceNotes(source, f"raw_sources/{source}", notes[source].target, notes[source])

    return ExtractiveCompiler().compile(CompileRequest(changed or frozenset(documents), topics, read, pages))


def three() -> dict[str, Document]:
    return {A: document(A, HTML), B: document(B, NOTE, media="markdown"), C: document(C, ARTICLE)}


def page(result: Compilation, title: str) -> PageProposal:
    return next(proposal for proposal in result.proposals if proposal.title == title)


def body(proposal: PageProposal) -> str:
    return "\n\n".join(block.text for block in proposal.blocks)


def test_a_page_has_lead_sections_and_citations() -> None:
    """One source becomes a page: its definition first, its own headings, a footnote behind each sentence."""
    proposal = page(compiled({A: document(A, HTML)}), "ENIAC")
    assert [block.key for block in proposal.blocks][:2] == ["title", f"lead:{A}:0"]
    assert "## Construction" in body(proposal)
    assert proposal.aliases == ("Electronic Numerical Integrator and Computer",)
    assert proposal.type == "topic"
    for block in proposal.blocks:
        assert re.findall(r"\[\^(nw-[0-9a-f]{8})\]", block.text) == [citation.label for citation in block.citations]


def test_every_sentence_stands_in_its_source() -> None:
    """What a page quotes are whole sentences of the cited part, word for word."""
    documents = three()
    places = {(source, part.anchor): part.text for source, found in documents.items() for part in found.parts}
    for proposal in compiled(documents).proposals:
        for block in proposal.blocks:
            for citation in block.citations:
                assert citation.quote in places[citation.source_id, citation.anchor]
                assert stands(block.text if len(block.citations) == 1 else citation.quote, citation.quote) > 0.5


def test_furniture_and_apparatus_stay_out() -> None:
    """Appeals to subscribe and lists of further reading are no content."""
    text = body(page(compiled({A: document(A, HTML)}), "ENIAC"))
    assert "Subscribe" not in text
    assert "Zuse Z3" not in text


def test_calls_to_read_on_are_no_sentences() -> None:
    """Neither links to other articles nor the heading over them belong to what a source says."""
    assert choice.is_furniture("Read more about the machines of the war")
    assert choice.is_end_matter("Further reading")
    assert not choice.is_furniture("Readers wrote more about it than about any other machine.")


def test_sources_of_one_subject_meet() -> None:
    """A name and its long form are one page; a section of a third source about it is quoted there as well."""
    proposal = page(compiled(three()), "ENIAC")
    assert set(proposal.sources) == {A, B, C}
    assert "Cables were plugged by hand" in body(proposal)
    assert "Relays clicked" not in body(proposal)


def test_what_two_sources_say_stands_once() -> None:
    """The same sentence of two sources is quoted from the better one."""
    assert body(page(compiled(three()), "ENIAC")).count("17,468 vacuum tubes") == 1


def test_sources_that_contradict_each_other_are_told() -> None:
    """Another year for the same event: both sentences stay where they stand, and the pair goes with the page."""
    proposal = page(compiled(three()), "ENIAC")
    assert "in 1947." in body(proposal) and "in 1946." in body(proposal)
    (clash,) = proposal.clashes
    assert {clash.old.quote[-5:], clash.new.quote[-5:]} == {"1947.", "1946."} and clash.kind == "date"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Z3 was finished in 1941 in Berlin.", "The Z4 was finished in 1945 in Berlin."),
        ("It was finished in 1941 by Zuse.", "It is a myth that it was finished in 1939 by Zuse."),
        ("The machine weighed 30 tons in all.", "The machine cost 487 dollars in all."),
        ("Zuse showed the machine in 1941.", "The museum bought the replica in 1967."),
    ],
)
def test_what_only_looks_like_a_contradiction(one: str, other: str) -> None:
    """Other machines, denied views, other units and other events do not clash."""
    texts = {
        A: f"# Old machines\n\nOld machines were big. {one}",
        B: f"# Old machines\n\nOld machines were slow. {other}",
    }
    result = compiled({source: document(source, text) for source, text in texts.items()})
    assert result.proposals[0].clashes == ()


def test_the_order_of_sources_does_not_matter() -> None:
    """Whatever the order in which sources are given, the pages are the same."""
    documents = three()
    results = {compiled({source: documents[source] for source in order}).proposals for order in permutations(documents)}
    assert len(results) == 1


def test_a_joining_source_leaves_the_blocks_of_others() -> None:
    """When a source joins, the blocks of the source that was there keep their keys."""
    documents = three()
    alone = {block.key for block in page(compiled({A: documents[A]}), "ENIAC").blocks if A in block.key}
    joined = {block.key for block in page(compiled(documents), "ENIAC").blocks}
    assert len(alone & joined) >= len(alone) - 1


def test_a_corrected_source_changes_only_its_own_blocks() -> None:
    """The old wording goes, no twin section comes, and the blocks of the other source stay to the letter."""
    documents = three()
    before = {block.key: block for block in page(compiled(documents), "ENIAC").blocks}
    documents[B] = document(B, NOTE.replace("Lightning struck it twice", "Lightning struck it once"), media="markdown")
    after = {block.key: block for block in page(compiled(documents), "ENIAC").blocks}
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert changed
    assert all(B in key for key in changed)
    assert not any("twice" in block.text for block in after.values())


def test_a_withdrawn_source_takes_its_sentences_along() -> None:
    """The page stays with the other sources; nothing cites the one that left."""
    documents = three()
    known = KnownPage("p1", "eniac", "ENIAC", subjects=("eniac",), sources=(A, B, C))
    del documents[B]
    result = compiled(documents, (known,), frozenset({B}))
    proposal = page(result, "ENIAC")
    assert proposal.page_id == "p1"
    assert B not in {citation.source_id for block in proposal.blocks for citation in block.citations}
    assert result.retired == ()


def test_a_page_without_sources_retires() -> None:
    """The last source left: the page is named, once, and nothing is proposed for it."""
    known = KnownPage("p1", "eniac", "ENIAC", subjects=("eniac",), sources=(A,))
    result = compiled({C: document(C, ARTICLE)}, (known,), frozenset({A}))
    assert result.retired == ("p1",)
    assert result.proposals == ()


def test_a_deleted_page_is_not_proposed_again() -> None:
    """A person deleted the page: its source is skipped with that reason."""
    known = KnownPage("p1", "eniac", "ENIAC", subjects=("eniac",), sources=(A,), deleted=True)
    result = compiled({A: document(A, HTML)}, (known,))
    assert result.proposals == ()
    assert "deleted by a person" in result.skipped[A]


def test_a_long_title_is_no_heading_of_its_own_page() -> None:
    """The text says its title once more: what follows is the page's own."""
    title = "What the people who wired the tubes of the very first machine remembered long afterwards"
    text = f"# {title}\n\nIt was warm in the room. Tubes failed daily.\n\n## {title}\n\nNobody had a manual."
    assert body(page(compiled({A: document(A, text, title)}), title)).count(title) == 1


def test_a_corrected_title_keeps_the_page() -> None:
    """The source is corrected and has another title now: it updates its page and makes no second one."""
    known = KnownPage("p1", "eniak", "Eniak", subjects=("eniak",), sources=(A,))
    result = compiled({A: document(A, HTML)}, (known,))
    assert [proposal.page_id for proposal in result.proposals] == ["p1"]
    assert result.retired == ()


def test_a_note_of_the_same_name_makes_the_page_wait() -> None:
    """An adopted note with the subject's name is never proposed for; the new page has low confidence for it."""
    note = KnownPage("n1", "ENIAC", "ENIAC", adopted=True)
    proposal = compiled({A: document(A, HTML)}, (note,)).proposals[0]
    assert (proposal.page_id, proposal.confidence) == ("", "low")
    assert "your note 'ENIAC'" in proposal.reasons[0]


def test_an_abbreviation_of_two_things_joins_neither() -> None:
    """An abbreviation that two subjects claim stays ambiguous: three pages, the third waits."""
    texts = {
        A: "# Air Traffic Management (ATM)\n\nAir Traffic Management (ATM) is the control of the sky over a country.",
        B: "# Automated Teller Machine (ATM)\n\nAn Automated Teller Machine (ATM) is a machine that hands out money.",
        C: "# ATM\n\nATM is short for many different things in this world of ours.",
    }
    result = compiled({source: document(source, text) for source, text in texts.items()})
    assert len(result.proposals) == 3
    assert "could also be" in " ".join(page(result, "ATM").reasons)


def test_only_concerned_subjects_are_read() -> None:
    """With thousands of sources and one changed, only the notes of that one's subjects are asked for."""
    notes = decode(analyse_document(document(A, HTML))[0])
    topics = {f"{number:012x}": (f"subject-{number}", f"=alias-{number}") for number in range(5000)} | {A: notes.topics}
    asked: list[str] = []

    def read(source: str) -> SourceNotes:
        asked.append(source)
        return SourceNotes(source, "raw_sources/a.html", notes.target, notes)

    pages = [
        KnownPage(f"p{n}", f"s{n}", f"S{n}", subjects=(f"subject-{n}",), sources=(f"{n:012x}",)) for n in range(5000)
    ]
    start = time.process_time()
    ExtractiveCompiler().compile(CompileRequest(frozenset({A}), topics, read, pages))
    assert asked == [A]
    assert time.process_time() - start < 2


def test_a_thin_source_is_low() -> None:
    """A source of one sentence makes a page that says it is thin."""
    proposal = compiled({A: document(A, "# Abacus\n\nThe abacus is a frame with beads.")}).proposals[0]
    assert proposal.confidence == "low"
    assert proposal.reasons[0].startswith("thin")


def test_a_source_with_orders_to_a_machine_is_staged() -> None:
    """Suspected instructions hold the page back."""
    assert compiled({A: document(A, HTML, injection_suspected=True)}).proposals[0].stage == ("injection_suspected",)


def test_words_of_a_source_do_nothing_in_obsidian() -> None:
    """Links, tags, formulas, HTML and comments in a source are shown as letters."""
    text = (
        "# Odd signs\n\nOdd signs are [[eniac]] and #tag with $5 and $6 in <b>bold</b> %%here%% and [^1] in the text."
    )
    shown = body(compiled({A: document(A, text, media="text")}).proposals[0])
    assert "\\[\\[eniac\\]\\]" in shown
    assert "\\#tag" in shown
    assert "\\$5" in shown
    assert "\\<b>" in shown


def test_tables_are_kept_with_their_source() -> None:
    """A table of facts stands on the page with one footnote in its head; bars in cells stay escaped."""
    text = "# Machines\n\n| Name | Year |\n| --- | --- |\n| Z3 | 1941 |\n| A \\| B | 1942 |"
    block = next(
        b for b in compiled({A: document(A, text, media="xlsx")}).proposals[0].blocks if b.kind == BlockKind.TABLE
    )
    assert block.text.splitlines()[0] == f"| Name | Year[^{block.citations[0].label}] |"
    assert "| A \\| B | 1942 |" in block.text


@pytest.mark.parametrize(
    ("text", "title", "language"),
    [
        (
            "# 图灵机\n\n图灵机是一种抽象的计算模型。它由艾伦·图灵于1936年提出。\n\n"
            "## 组成\n\n它有一条无限长的纸带。纸带被分成一个个方格。",
            "图灵机",
            "zh",
        ),
        ("# チューリング\n\nチューリングはイギリスの数学者である。1912年にロンドンで生まれた。", "チューリング", "ja"),
        (
            "# Машина Тьюринга\n\nМашина Тьюринга — это абстрактный исполнитель. Она предложена в 1936 г. в Англии.",
            "Машина Тьюринга",
            "ru",
        ),
        ("# آلة تورنغ\n\nآلة تورنغ هي نموذج رياضي بسيط للحاسوب. اقترحها آلان تورنغ عام 1936.", "آلة تورنغ", "ar"),
    ],
)
def test_other_scripts(text: str, title: str, language: str) -> None:
    """Chinese, Japanese, Russian and Arabic sources get a defining lead and keep their letters."""
    notes = analyse(document(A, text, media="text"))
    assert (notes.title, notes.defines, notes.language) == (title, True, language)
    assert title in body(compiled({A: document(A, text, media="text")}).proposals[0])


def test_a_list_is_quoted_whole_with_its_announcement() -> None:
    """A short list comes with all its items and the line that announces it."""
    filler = " ".join(f"Sentence number {n} tells of relay {n} in rack {n}." for n in range(60))
    text = f"# Racks\n\n{filler}\n\n## Parts\n\nA rack needs these parts:\n\n"
    text += "- one relay board\n- two power cables\n- a fuse box"
    shown = body(compiled({A: document(A, text)}).proposals[0])
    assert "A rack needs these parts:" in shown
    assert all(item in shown for item in ("- one relay board", "- two power cables", "- a fuse box"))


JUNK = {
    "nothing": "",
    "one letter": "x",
    "only headings": "# A\n\n## B\n\n## C",
    "one sentence": "# A\n\nWords that end somewhere.",
    "the same sentence": "# Echo\n\n" + "It says the same thing again. " * 500,
    "huge word": "# Big\n\n" + "a" * 100_000,
    "only marks": "# Marks\n\n" + "!?. " * 5000,
    "open brackets": "# Brackets\n\n" + '([{<"“' * 3000 + " end.",
    "many headings": "\n\n".join(f"## Part {n}\n\nPart {n} says that {n} is a number." for n in range(800)),
    "own keys": "# Own\n\nOwn is a page.\n\n"
    + "\n\n".join(f"## {key}\n\n{key} is a heading." for key in ("Facts", "Lead", "Overview", "Differ")),
}


@pytest.mark.parametrize("text", JUNK.values(), ids=JUNK.keys())
def test_junk_is_survived(text: str) -> None:
    """Odd documents give a page or a reason, quickly, with block keys that are unique."""
    start = time.process_time()
    result = compiled({A: document(A, text, media="text")})
    assert time.process_time() - start < 3
    assert result.proposals or A in result.skipped
    for proposal in result.proposals:
        keys = [block.key for block in proposal.blocks]
        assert len(keys) == len(set(keys))
        assert sum(len(block.citations) for block in proposal.blocks) <= 30


def test_the_limit_holds() -> None:
    """A source adds no more sentences than the setting says."""
    text = "# Long\n\n" + "\n\n".join(f"Machine {n} was built in town {n} by engineer {n}." for n in range(400))
    assert sum(sentence.chosen for sentence in analyse(document(A, text), limit=7).sentences) == 7


def test_analysing_can_be_handed_to_other_processes() -> None:
    """The function and its result can be pickled, and the topics come with it."""
    data, topics = pickle.loads(pickle.dumps(analyse_document))(document(A, HTML))
    assert decode(data).topics == topics == ("eniac", "=electronic-numerical-integrator-and-computer")
