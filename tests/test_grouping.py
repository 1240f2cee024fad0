"""Which sources meet on which page, over many nights."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.compiling.compile import KnownPage
from tasks.compiling.grouping import Subject, plan

POOL = {
    "s1": ("zuse-z3", "=z3-computer"),
    "s2": ("zuse-z3", "#eniac", "#colossus"),
    "s3": ("z3-computer", "#zuse-z3"),
    "s4": ("eniac", "=electronic-numerical-integrator-and-computer"),
    "s5": ("electronic-numerical-integrator-and-computer", "=eniac", "#z3-computer"),
    "s6": ("early-computers", "#eniac", "#zuse-z3", "#colossus"),
    "s7": ("atm", "#colossus"),
    "s8": ("air-traffic-management", "=atm"),
    "s9": ("automated-teller-machine", "=atm"),
    "s10": ("colossus", "#atm"),
    "s11": ("bombe", "=colossus"),
}


def shape(subject: Subject) -> tuple[object, ...]:
    """What a page is made of, its id aside."""
    return subject.key, subject.keys, subject.members, subject.rivals


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sets(st.sampled_from(sorted(POOL)), min_size=1, max_size=4), min_size=1, max_size=6))
def test_nights_in_any_order_end_in_the_same_pages(nights: list[set[str]]) -> None:
    """Sources come and go night by night; the pages are those that one night over the final sources would make."""
    live: dict[str, tuple[str, ...]] = {}
    pages: dict[str, KnownPage] = {}
    made: dict[str, tuple[object, ...]] = {}
    for number, night in enumerate(nights):
        for source in night:
            if live.pop(source, None) is None:
                live[source] = POOL[source]
        result = plan(live, sorted(pages.values(), key=lambda page: page.id), night)
        for page_id in result.retired:
            pages[page_id] = KnownPage(page_id, page_id, page_id, subjects=pages[page_id].subjects)
            made.pop(page_id)
        for at, subject in enumerate(result.subjects):
            page_id = subject.page_id or f"p{number}-{at}"
            sources = tuple(member.source_id for member in subject.members)
            aliases = tuple(sorted(subject.keys - {subject.key}))
            pages[page_id] = KnownPage(page_id, page_id, subject.key, aliases, (subject.key,), sources)
            made[page_id] = shape(subject)
    fresh = [shape(subject) for subject in plan(live, (), live.keys()).subjects]
    assert sorted(map(str, made.values())) == sorted(map(str, fresh))


def test_nothing_changed_nothing_touched() -> None:
    """When no source changed and every page is as it was, no subject is worked on."""
    pages = [
        KnownPage(subject.key, subject.key, subject.key, subjects=(subject.key,),
                  sources=tuple(member.source_id for member in subject.members))
        for subject in plan(POOL, (), POOL.keys()).subjects
    ]
    assert plan(POOL, pages, ()).subjects == ()


def test_a_page_made_from_two_retires_one() -> None:
    """A source that names both joins two pages; one of them stays, the other is retired."""
    pages = [
        KnownPage("p1", "eniac", "ENIAC", subjects=("eniac",), sources=("a",)),
        KnownPage("p2", "electronic", "Electronic", subjects=("electronic",), sources=("b",)),
    ]
    topics = {"a": ("eniac",), "b": ("electronic",), "c": ("eniac", "=electronic")}
    result = plan(topics, pages, {"c"})
    assert [(subject.page_id, len(subject.members)) for subject in result.subjects] == [("p1", 3)]
    assert result.retired == ("p2",)
