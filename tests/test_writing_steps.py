"""The steps of compiling with a model, one by one, on records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serving.new_wiki import _PURPOSE
from tasks.compiling.compile import KnownPage
from tasks.coverage.check import Quoted, State, check
from tasks.coverage.quotes import locate
from tasks.llm.ask import Kind, ModelError, Prompt
from tasks.records import BlockKind, Citation, Document, Part
from tasks.writing import analyse, semantic, settle
from tasks.writing.clash import refused
from tasks.writing.contribution import Contribution, Line, OwnBlock, Share, Superseded, decode, encode
from tasks.writing.find import Draft, Finder
from tasks.writing.naming import abbreviated, is_given, is_named, plain_heading, tidy_title
from tasks.writing.page import SourceFacts, Stand, lay_out, propose
from tasks.writing.passages import passages, windows
from tasks.writing.planning import planned_calls
from tasks.writing.purpose import read_purpose
from tasks.writing.replies import Analysed, Cite, ClaimFound, SubjectFound, WrittenSentence
from tests.writing_model import RuleAsker

BELL = "Anna Bell lives in Kent and runs a bakery. It opened in 2011 with 1,200 pounds of flour."


def document(*texts: str, title: str = "Anna Bell", media: str = "markdown") -> Document:
    parts = tuple(
        Part(BlockKind.HEADING, text[2:], 2) if text.startswith("# ") else Part(BlockKind.PARAGRAPH, text, 0, f"^p{at}")
        for at, text in enumerate(texts, start=1)
    )
    return Document("s1", title, parts, media, "evidence/a.md")


def line(text: str, source: str = "s1", covered: bool = True) -> Line:
    return Line(text, (Citation(source, f"{source}.md", "^p1", text, f"nw-{abs(hash(text)) % 10**8:08d}"),), covered)


def share(*lines: Line, source: str = "s1", section: str = "", **more: Any) -> Share:
    return Share("bell", "Bell", "create", blocks=(OwnBlock(f"lead:{source}:0", section, "paragraph", lines),), **more)


# --- passages --------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(alphabet="ab. \n。字", max_size=4000), max_size=8), st.integers(500, 5000))
def test_every_passage_is_read_in_some_window(texts: list[str], size: int) -> None:
    """A long source is read in several windows that hold all its passages in order, and all its letters."""
    found = passages(document(*texts))
    read = [passage for run in windows(found.all, size) for passage in run]
    assert tuple(read) == found.all
    read_letters, letters = ("".join(text.split()) for text in ("".join(one.text for one in read), "".join(texts)))
    assert read_letters == letters


def test_a_passage_keeps_the_anchor_of_its_part_and_its_path_of_headings() -> None:
    """What is cited is the part itself, under its headings."""
    found = passages(document("# Life", BELL * 40, "Short."))
    assert {passage.anchor for passage in found.all} == {"^p2", "^p3"}
    assert found.all[-1].headings == ("Life",)
    assert all(len(passage.text) <= 1500 for passage in found.all)


def test_the_same_facts_make_one_page_whatever_names_a_model_gives() -> None:
    """A subject without facts of its own is told on the main subject's page; a passage may be named by its number."""
    found = passages(document(BELL, BELL.replace("Anna Bell", "Tom Bell")))
    claims = [("Anna Bell", 1), ("Kent", 1), ("bakery", 1), ("Tom Bell", 2), ("flour", 2)]
    reply = Analysed(
        subjects=[SubjectFound(title=name) for name, _ in claims],
        claims=[
            ClaimFound(subject=name, passage=str(number), words=words)
            for name, number in claims
            for words in ("lives in Kent and runs a bakery", "opened in 2011", "pounds of flour")
        ],
    )
    assert [topic.title for topic in analyse.reduce(found, [reply]).topics] == ["Anna Bell", "Tom Bell"]


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("[[Zuse Z3]]", "Zuse Z3"),
        ("Zuse [2]", "Zuse"),
        ("**Zuse** | x", "Zuse x"),
        ("`Z3`\u200b", "Z3"),
        ("[x](y)", "x"),
        ("ENIAC^a", "ENIAC a"),
    ],
)
def test_a_title_has_no_markup(given: str, title: str) -> None:
    """Nothing in a title opens a link, a heading or a property."""
    assert tidy_title(given) == title


def test_an_abbreviation_in_a_title_is_another_name() -> None:
    """A page is found, and linked to, by its short name; a qualifier in brackets stays."""
    assert abbreviated("World Health Organization (WHO)") == ("World Health Organization", ("WHO",))
    assert abbreviated("Mercury (planet)") == ("Mercury (planet)", ())


@pytest.mark.parametrize(
    ("alias", "text", "own"),
    [
        ("ENIAC", "Colossus stood in Kent. Unlike ENIAC, it was kept secret.", False),
        ("Heath Robinson", "Its forerunner was called Heath Robinson.", True),
        ("Mark 2", "Colossus Mark 2 was faster.", True),
        ("巨像", "它又稱巨像，於1943年建成。", True),
        ("Colossus II", "It ran.", True),
    ],
)
def test_a_name_that_a_source_only_mentions_is_no_other_name(alias: str, text: str, own: bool) -> None:
    """Else two things would be one page, or a link would lead astray."""
    assert is_named(alias, ("Colossus",), text) is own


# --- the check -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "words", "state"),
    [
        ("Anna Bell lives in Kent.", "lives in Kent", State.COVERED),
        ("It opened in 2011 with 1200 pounds of flour.", "opened in 2011 with 1,200 pounds", State.COVERED),
        ("Anna Bell lives in Kent, runs a bakery and is married.", "lives in Kent", State.UNCOVERED),
        ("She is married with two children.", "lives in Kent", State.INVENTED),
        ("The bakery opened in 2012.", "It opened in 2011", State.INVENTED),
        ("Anna Bell lives in London.", "lives in Kent", State.INVENTED),
        ("Anna Bell does not run a bakery.", "runs a bakery", State.INVENTED),
        ("Anna Bell lives in Kent.", "lives in Surrey", State.INVENTED),
    ],
)
def test_a_sentence_is_held_against_the_words_it_cites(sentence: str, words: str, state: State) -> None:
    """Numbers, names, denials and other words that do not stand at the place are found without a model."""
    assert check(sentence, [Quoted(words, BELL)], "Anna Bell").state is state


@pytest.mark.parametrize(
    ("sentence", "state"),
    [
        ("她住在肯特。", State.COVERED),
        ("她已婚，有兩個孩子。", State.INVENTED),
        ("她在1999年住在肯特。", State.INVENTED),
    ],
)
def test_unspaced_scripts_are_held_against_their_place_too(sentence: str, state: State) -> None:
    """Chinese sentences are compared character by character."""
    assert check(sentence, [Quoted("她住在肯特", "她住在肯特，經營一家麵包店。")]).state is state


def test_quotation_marks_dashes_and_white_space_do_not_hide_a_quotation() -> None:
    """The words are found as they stand at the place, whatever shape the model gives their marks."""
    place = "He said: “it’s a 10\u202f–\u202f12 metre\n  hull”."
    assert locate("it's a 10 - 12 metre hull", place) == "it’s a 10\u202f–\u202f12 metre\n  hull"
    assert locate("no such words", place) == ""


def test_markup_of_a_reply_becomes_plain_text_and_its_links_are_wishes() -> None:
    """Nothing of a model's markup reaches a page: no image, fence, tag, footnote or link."""
    text = "**Nova** is near [[Zuse Z3|the Z3]] and [here](https://x.example) ![[a.png]] <script>x</script>[^1] [c3]"
    assert settle.plain_text(text) == ("Nova is near the Z3 and here x", ("Zuse Z3",))
    assert settle.plain_text("| Z3 | Berlin | 1941 |")[0] == "Z3, Berlin, 1941"
    assert settle.plain_text("| --- | :-: |")[0] == ""
    assert settle.plain_text("> [!danger] - [ ] It [runs](javascript:alert(1)) <https://x.example>.")[0] == "It runs."
    assert settle.plain_text("--- It runs.")[0] == "It runs."
    assert settle.plain_text("```markdown\n- It runs.\n```")[0] == "It runs."


def test_an_uncovered_sentence_is_asked_about_once_more() -> None:
    """Better citations are taken; a sentence that nothing bears out is left out, with the reason."""
    found = passages(document(BELL))

    def bend(prompt: Prompt, made: dict[str, Any]) -> Any:
        if prompt.role == "cite":
            return {"sentences": [{"number": 1, "cites": [{"passage": "c1", "words": "lives in Kent"}]}]}
        return made

    asker = RuleAsker(bend)
    ground = settle.Ground(found, found.all, ("Anna Bell",))
    written = [
        WrittenSentence(text="Anna Bell lives in Kent.", cites=[]),
        WrittenSentence(text="She won a prize in 1950.", cites=[Cite(passage="c1", words="runs a bakery")]),
    ]
    settled = settle.settle(asker, ground, written)
    assert [one.text for lines in settled.lines for one in lines] == ["Anna Bell lives in Kent."]
    assert "1950" in settled.left_out[0] and len(asker.calls) == 1


def test_a_refrain_of_a_source_stands_on_the_page_once() -> None:
    """A sentence that a source repeats is no second fact."""
    own = share(line("See it now: Amazon"), line("It rings."), line("See it now: Amazon"))
    sheet = lay_out([Stand(SourceFacts("s1"), own)])
    assert [one.text for placed in sheet.placed for one in placed.block.lines] == ["See it now: Amazon", "It rings."]
    assert sheet.agreed == 0


# --- analysis --------------------------------------------------------------------------------------------------------


def test_a_cut_off_reply_is_asked_for_in_halves() -> None:
    """A window whose reply does not fit is read again in two; nothing of it is lost."""

    def bend(prompt: Prompt, made: dict[str, Any]) -> Any:
        return ModelError(Kind.TRUNCATED, "cut off") if len(made["claims"]) > 2 else made

    asker = RuleAsker(bend)
    texts = [f"The oven number {n} of Anna Bell stands in the yard, {'far ' * 80}from the gate." for n in range(4)]
    notes = analyse.analyse(asker, passages(document(*texts)))
    assert [claim.words for claim in notes.topics[0].claims] == texts
    assert len(asker.calls) == 3


def test_claims_that_do_not_stand_are_dropped_and_thin_subjects_folded() -> None:
    """What a model says of a subject counts only as far as the source says it."""

    def bend(prompt: Prompt, made: dict[str, Any]) -> Any:
        extra = [{"subject": "Kent", "passage": "c1", "words": "lives in Kent"}]
        lie = [{"subject": "Anna Bell", "passage": "c1", "words": "was born in Rome"}]
        subjects = [*made["subjects"], {"title": "Kent", "aliases": ["Garden of England"]}]
        return made | {"claims": made["claims"] + extra + lie, "subjects": subjects}

    notes = analyse.analyse(RuleAsker(bend), passages(document(BELL)))
    assert [topic.title for topic in notes.topics] == ["Anna Bell"]
    assert all("Rome" not in claim.words for claim in notes.topics[0].claims)


# --- finding pages ---------------------------------------------------------------------------------------------------


def test_a_page_is_offered_by_name_alias_search_and_among_drafts() -> None:
    """Published pages and what this night is about to write are offered alike; the own draft is not."""
    topic = analyse.analyse(RuleAsker(), passages(document(BELL))).topics[0]
    other = replace(topic, key="bell-anna", title="Bell, Anna", aliases=("Anna Bell",))
    pages = [KnownPage("p1", "bell", "Mrs Bell", ("Anna Bell",)), KnownPage("p2", "kent", "Kent")]
    finder = Finder(pages, [Draft("s1", topic), Draft("s2", other)], lambda question: ["p2"], lambda page: "")
    names = [offer.name for offer in finder.offers("s1", topic)]
    assert set(names) == {"p1", "p2", "s2/bell-anna"}


# --- contradictions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "real"),
    [
        ("The limit is 10 requests per minute.", "The limit is 12 requests per minute, since 2025.", True),
        ("The kiln does not use gas for firing.", "The kiln does use gas for firing.", True),
        ("Konrad was born in Berlin in a small house.", "Konrad was born in Hamburg in a small house.", True),
        ("400 workers built the bridge.", "It is often claimed that 900 convicts built the bridge.", False),
        ("The Orion project was finished in 2009.", "The Vega project was finished in 2014.", False),
        ("In 2010 Lindby had 41,200 inhabitants.", "In 2020 Lindby had 46,500 inhabitants.", False),
        ("The tower is 30 metres high.", "The garden has 12 benches.", False),
        ("Is the tower 30 metres high?", "The tower is 32 metres high.", False),
        ("The tower is 30 metres high.", "The tower is 30 metres  high.", False),
    ],
)
def test_only_what_really_clashes_is_a_contradiction(old: str, new: str, real: bool) -> None:
    """Reported views, other projects, other years and silence are refused, whatever the model says."""
    assert (refused(old, new, "") == "") is real


def test_dates_and_scopes_that_differ_are_no_contradiction() -> None:
    """Two sentences hold side by side when they speak of different times or things."""
    pair = ("The limit is 10 requests.", "The limit is 12 requests.")
    assert "different times" in refused(*pair, "", dates=("2024", "2025"))
    assert "different things" in refused(*pair, "", scopes=("free keys", "paying customers"))
    assert refused(*pair, "", dates=("", "2025")) == ""


# --- pages -----------------------------------------------------------------------------------------------------------


def test_a_superseded_sentence_leaves_only_while_the_newer_one_stands() -> None:
    """Taking the newer source away brings the older sentence back."""
    old = Stand(SourceFacts("s1"), share(line("The limit is 10.")))
    taken = (Superseded("lead:s1:0", "The limit is 10."),)
    newer = share(line("The limit is 12.", "s2"), source="s2", superseded=taken)
    both = lay_out([old, Stand(SourceFacts("s2"), newer)])
    assert [one.text for placed in both.placed for one in placed.block.lines] == ["The limit is 12."]
    assert [one.text for placed in lay_out([old]).placed for one in placed.block.lines] == ["The limit is 10."]


def test_what_two_sources_say_stands_once() -> None:
    """A second source's same sentence is not repeated; it counts for confidence."""
    first, second = (share(line("It has ten doors.", source), source=source) for source in ("s1", "s2"))
    sheet = lay_out([Stand(SourceFacts("s1"), first), Stand(SourceFacts("s2"), second)])
    assert len(sheet.placed) == 1 and sheet.agreed == 1


def test_an_uncovered_sentence_is_marked_and_holds_the_page() -> None:
    """A person sees which sentence to look at; a sentence decided on in a former night holds nothing any more."""
    given = share(line("It has ten doors."), line("It is grand.", covered=False))
    doubtful = Stand(SourceFacts("s1"), given, fresh=True)
    proposal = propose("bell", "", [doubtful])
    assert proposal is not None and "==It is grand.==" in proposal.blocks[1].text
    assert proposal.stage and proposal.confidence == "low"
    later = propose("bell", "", [replace(doubtful, fresh=False)])
    assert later is not None and not later.stage


def test_a_cut_is_stated_on_the_page() -> None:
    """A source that was not read whole says so where its words are."""
    stand = Stand(SourceFacts("s1", cut="Only the first half of this source was read."), share(line("It runs.")))
    proposal = propose("bell", "", [stand])
    assert proposal is not None and "first half" in proposal.blocks[-1].text


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_a_contribution_is_read_back_as_it_was_written() -> None:
    """What was decided on a source survives the night; of another form it counts as absent."""
    given = share(line("Ärger 字", covered=False), superseded=(Superseded("b", "s"),))
    one = Contribution("s1", "d", "b", "ok", shares=(given,))
    assert decode(encode(one)) == one
    assert decode(b"") is None and decode(b'{"form": 99}') is None and decode(b"\xff") is None


def test_the_purpose_is_what_the_owner_wrote() -> None:
    """The note that init makes, comments and properties say nothing; wrapping does not change the purpose."""
    assert read_purpose(_PURPOSE).text == ""
    assert read_purpose("---\na: 1\n---\n# Purpose\n\n<!-- x -->\nBirds  only.\n") == read_purpose("Birds only.")


# --- long texts ------------------------------------------------------------------------------------------------------


def test_a_statute_is_cut_where_the_model_sees_a_new_topic() -> None:
    """Only long papers and statutes are; each chunk begins with a topic, and no text is lost."""
    articles = [f"Article {n}. " + f"The keeper of lamp {n} must trim it daily. " * 60 for n in range(12)]
    law = document(*articles, media="text")
    assert semantic.wanted(law) and not semantic.wanted(document(BELL))
    found = passages(law)
    starts = semantic.topic_starts(RuleAsker(), found).starts
    chunks = semantic.chunks(found, starts, 500, 80)
    first_words = {passage.text[:40] for passage in found.all if passage.number in starts}
    assert first_words and first_words <= {chunk.text[:40] for chunk in chunks}
    assert all(passage.text[-30:] in " ".join(chunk.text for chunk in chunks) for passage in found.all)


def test_calls_are_reckoned_before_they_are_made() -> None:
    """A long source is expected to take more calls and tokens than a short one."""
    small, big = (sum(one.input_tokens for one in planned_calls([document(BELL * n)])) for n in (1, 400))
    assert 0 < small < big


@pytest.mark.parametrize(
    ("name", "given"),
    [("Anna Bell", True), ("Anna Bell (baker)", True), ("Nova", False), ("Anna Bell's Prize", False), ("Bakery", True)],
)
def test_a_title_is_no_place_to_invent(name: str, given: bool) -> None:
    """Titles and aliases are made of the source's words; a qualifier in brackets is free."""
    assert is_given(name, passages(document(BELL)).words) is given


def test_a_heading_names_nothing_that_the_source_does_not() -> None:
    """Common words of a heading are free, its numbers and names are the source's."""
    words = passages(document(BELL)).words
    assert plain_heading("Life and work in Kent", words) and plain_heading("Früher", words)
    assert not plain_heading("Winner of the Nobel Prize", words) and not plain_heading("Since 1950", words)
