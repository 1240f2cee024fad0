"""Contradictions without a model: what clashes is found, and what only seems to clash is left alone."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.contradictions.claims import Claim, Clash, ClashKind
from tasks.contradictions.find import Statement, find, named
from tasks.contradictions.form import form_of

BEFORE = "ENIAC is a computer."

REAL = (
    ("The limit is 10.", "The limit is 12, since 2025."),
    ("The upload limit is 10 MB.", "The upload limit is 12 MB since 2025."),
    ("ENIAC was completed in 1945.", "ENIAC was completed in 1946."),
    (
        "On 9 September 1947 a moth was found in a relay of the Mark II.",
        "The moth was found in a relay of the Harvard Mark II in 1945.",
    ),
    ("ENIAC was moved to Aberdeen in Maryland in 1947.", "ENIAC was moved to Aberdeen in Maryland in 1946."),
    ("The machine used 18,000 vacuum tubes.", "The machine used 12,000 vacuum tubes."),
    ("The tower is 324 metres high.", "The tower is 310 metres high."),
    ("Ada Lovelace was born on 10 December 1815 in London.", "Ada Lovelace was born on December 12, 1815."),
    ("The free plan has 5 seats.", "The free plan has three seats."),
    ("The Z3 was destroyed in 1943.", "The Z3 was destroyed in 1944 in an air raid."),
    ("The server listens on port 8080.", "The server listens on port 9090."),
    ("The API supports pagination.", "The API does not support pagination."),
    ("The Z3 was Turing complete.", "The Z3 was not Turing complete."),
    ("Der Rechner wurde 1941 in Berlin fertiggestellt.", "Der Rechner wurde 1943 in Berlin fertiggestellt."),
    ("Die Firma hat 120 Mitarbeiter.", "Die Firma hat 150 Mitarbeiter."),
    ("Passwords must have at least 8 characters.", "Passwords must have at least 12 characters."),
    ("The fee is $20 per month.", "The fee is $25 per month."),
    ("The company was founded in March 1998.", "The company was founded in May 1998."),
    ("Tokens expire after 30 minutes.", "Tokens expire after 60 minutes."),
    ("The museum has 3 floors.", "The museum has 4 floors."),
    ("The trial lasts 14 days.", "The trial lasts 30 days."),
    ("The population is 3.4 million.", "The population is 2.9 million."),
    ("La société a été fondée en 1990.", "La société a été fondée en 1992."),
    ("The device does not have a fan.", "The device has a fan."),
    ("Colossus was dismantled in 1945.", "Colossus, the codebreaking machine, was dismantled in 1960."),
    (
        "The bridge is 820 metres long and carries two railway tracks.",
        "The bridge is 846 metres long and carries two railway tracks.",
    ),
    ("The bridge, a steel arch, is 820 metres long.", "The bridge is 846 metres long."),
    ("The Marlow Kiln does not use gas for firing.", "The Marlow Kiln does use gas for firing."),
    ("The museum was opened in May 1990.", "The museum was opened in June 1990."),
    ("It was founded in 1847 by Werner Siemens.", "It was founded in 1848 by Werner Siemens."),
    ("Members pay 20 euros a year.", "Members pay 25 euros a year."),
    ("The battery holds 50 kWh.", "The battery holds 60 kWh."),
    ("The API allows 10 requests per second.", "As of 2025 the API allows 20 requests per second."),
    ("The service is available in 12 countries.", "The service is available in 15 countries."),
    ("The building was demolished in 1965.", "The building was demolished in 1966, in spite of protests."),
    ("Das Museum wurde am 3. Mai 1990 eröffnet.", "Das Museum wurde am 4. Mai 1990 eröffnet."),
    ("The device is not waterproof.", "The device is waterproof."),
    ("El dispositivo Garza es resistente al agua.", "El dispositivo Garza no es resistente al agua."),
    ("Il ponte Airone fu aperto ai carri pesanti.", "Il ponte Airone non fu aperto ai carri pesanti."),
    ("A ponte Garça foi aberta ao tráfego pesado.", "A ponte Garça não foi aberta ao tráfego pesado."),
    ("De brug Reiger was geopend voor zwaar verkeer.", "De brug Reiger was niet geopend voor zwaar verkeer."),
    ("Мост Сокол был открыт для тяжёлых машин.", "Мост Сокол не был открыт для тяжёлых машин."),
    ("The tunnel has never been flooded.", "The tunnel has been flooded."),
    ("El museo fue inaugurado en 1990.", "El museo fue inaugurado en 1991."),
    ("Grace Hopper died on 1 January 1992.", "Hopper died on 1 January 1993."),
    ("The Acme bridge has six arches.", "The bridge has seven arches."),
)

SEEMING = (
    ("The Z3 was finished in 1941 in Berlin.", "The Z4 was finished in 1945 in Berlin."),
    ("It was finished in 1941 by Zuse.", "It is a myth that it was finished in 1939 by Zuse."),
    ("The machine weighed 30 tons in all.", "The machine cost 487 dollars in all."),
    ("Zuse showed the machine in 1941.", "The museum bought the replica in 1967."),
    ("In 1999 it had 10 members.", "In 2005 it had 12 members."),
    ("In 1999 the club had 10 members.", "The club has 12 members."),
    ("Project Alpha started in 2019.", "Project Beta started in 2021."),
    (
        "The north tower of the complex was completed in 1972.",
        "The south tower of the complex was completed in 1973.",
    ),
    ("The machine used about 18,000 vacuum tubes.", "The machine used 17,468 vacuum tubes."),
    ("The team has about 30 members.", "The team has 31 members."),
    ("The bridge is 2 km long.", "The bridge is 2,000 m long."),
    ("The crew had between 10 and 12 people.", "The crew had 11 people."),
    ("The crew had 10–12 people.", "The crew had 14 people."),
    ("The drum holds 4 kB.", "The drum of the second machine holds 8 kB."),
    ("Critics say the limit is 12.", "The limit is 10."),
    ("The limit was 10.", "The limit is 12."),
    ("The first version was released in 1991.", "The second version was released in 1993."),
    ("The film was released in Japan in 1997.", "The film was released in 1998."),
    ("The film was released in 1997 in Japan.", "The film was released in 1998."),
    ("The team won the cup in 1990.", "The team won the cup in 1994."),
    ("The company made a profit in 2010.", "The company made a profit in 2012."),
    ("We enrolled 120 patients.", "We enrolled 80 patients."),
    ("The study included 120 people.", "The study included 80 people."),
    ("More than 10,000 people came.", "12,500 people came."),
    ("The launch is planned for 2026.", "The launch was in 2027."),
    ("The book gives 1898 as the year of his birth.", "He was born in 1897."),
    ("Smith was born in 1898.", "Jones was born in 1897."),
    ("The value is 3.14.", "The value is 3.1416."),
    ("The city has 1,623,000 people.", "The city has 1.6 million people."),
    ("The Berlin office has 20 desks.", "The Munich office has 30 desks."),
    ("The plant employs 300 people.", "The research department of the plant employs 30 people."),
    ("The machine used 18,000 tubes.", "The machine used 5,000 tubes for memory."),
    ("Apollo 11 landed on the Moon in 1969.", "Apollo 12 landed on the Moon in 1969."),
    ("The limit will be 12.", "The limit is 10."),
    ("The rate was 5 % in 2010.", "The rate was 7 % in 2012."),
    ("The limit has been 10 since 2019.", "The limit has been 12 since 2025."),
    ("Not all machines support it.", "All machines support it."),
    ("The API no longer supports XML.", "The API supports XML."),
    ('"The limit is 12," he wrote.', 'The limit is 10.'),
    ("It was completed around 1945.", "It was completed in 1946."),
    ("It was completed in the 1940s.", "It was completed in 1946."),
    ("Die Firma hatte 2010 etwa 120 Mitarbeiter.", "Die Firma hat 150 Mitarbeiter."),
    (
        "Angeblich wurde der Rechner 1939 in Berlin fertiggestellt.",
        "Der Rechner wurde 1941 in Berlin fertiggestellt.",
    ),
    ("Its predecessor was built in 1938.", "It was built in 1941."),
    ("The average score was 5.2 points.", "The maximum score was 9.8 points."),
    ("The price rose from 10 to 12 dollars.", "The price rose from 12 to 15 dollars."),
    ("Figure 3 shows the drum.", "Figure 4 shows the drum."),
    ("Chapter 2 was written in 1950.", "Chapter 3 was written in 1952."),
    ("The Python 2 series was released in 2000.", "The Python 3 series was released in 2008."),
    ("The army built 10 machines in 1944.", "The army built 12 machines in 1945."),
    ("In its first year, the school had 20 pupils.", "The school had 45 pupils."),
    ("The machine, after its rebuild, had 40 panels.", "The machine had 30 panels."),
    ("The hall seats 500 people, with the gallery closed.", "The hall seats 800 people."),
    ("During the war, the factory employed 300 people.", "The factory employed 120 people."),
    ("On weekdays the museum opens at 9.", "The museum opens at 10."),
    ("The museum opens at 10 on Sundays.", "The museum opens at 9."),
    ("For students, the ticket costs 5 euros.", "The ticket costs 9 euros."),
    ("The ticket costs 5 euros for students.", "The ticket costs 9 euros."),
    ("The tower is 300 m high without the antenna.", "The tower is 324 m high."),
    ("The tower, without its antenna, is 300 m high.", "The tower is 324 m high."),
    ("With the antenna, the tower is 324 m high.", "The tower is 300 m high."),
    ("The old bridge is 200 m long.", "The bridge is 300 m long."),
    ("The bridge is 200 m long and 20 m wide.", "The bridge is 20 m wide and 200 m long."),
    ("The train takes 3 hours to Berlin.", "The train takes 5 hours to Munich."),
    ("The battery lasts 10 hours in standby.", "The battery lasts 4 hours in use."),
    ("The company has 500 employees worldwide.", "The company has 120 employees in Germany."),
    ("The Model A weighs 5 kg.", "The Model B weighs 7 kg."),
    ("The version released in 2019 uses 4 cores.", "The version released in 2021 uses 8 cores."),
    ("The book was published in 1990 in English.", "The book was published in German in 1992."),
    ("The paperback was published in 1992.", "The book was published in 1990."),
    ("Construction began in 1990.", "Construction ended in 1992."),
    ("The first edition was published in 1990.", "The book was published in 1992."),
    ("The library was opened in 1905 and renovated in 1990.", "The library was renovated in 1991."),
    ("He joined the company in 1990 as an engineer.", "He joined the company in 2001 as director."),
    ("She moved to London in 1950.", "She moved to Paris in 1955."),
    ("The reactor was started in 1957.", "The reactor was started in 1960 for the second time."),
    ("The reactor was restarted in 1960.", "The reactor was started in 1957."),
    ("The record was 9.8 seconds in 2008.", "The record is 9.58 seconds."),
    ("Its population was 5,000 in 1900.", "Its population is 12,000."),
    ("In winter the lake is 3 m deep.", "The lake is 5 m deep."),
    ("At its deepest point the lake is 30 m deep.", "The lake is 5 m deep on average."),
    ("The lake is 30 m deep at most.", "The lake is 5 m deep."),
    ("One of the towers is 80 m high.", "The towers are 75 m high."),
    ("The left tower is 80 m high.", "The right tower is 82 m high."),
    ("The API does not support XML in version 2.", "The API supports XML."),
    ("The drug is not approved in the EU.", "The drug is approved in the US."),
    ("The feature is not enabled by default.", "The feature is enabled by default in the beta."),
    ("The museum is not open on Mondays.", "The museum is open on Sundays."),
    ("The bridge was not completed until 1932.", "The bridge was completed in 1931."),
    ("Users cannot delete messages.", "Administrators can delete messages."),
    ("The committee met 3 times in 2019.", "The committee met 5 times in 2020."),
    ("The flight takes 2 hours.", "The flight took 3 hours."),
    ("The plant was closed in 1990, reopened in 1995 and closed again in 2000.", "The plant was closed in 2000."),
    ("The file may be at most 10 MB.", "The file is 12 MB."),
    ("The limit is 10 per user.", "The limit is 100 per team."),
    ("The fund holds $3 million.", "The fund holds €2 million."),
    ("The house has 3 bedrooms and 2 bathrooms.", "The house has 2 bathrooms and 3 bedrooms."),
    ("The house has 3 rooms upstairs.", "The house has 5 rooms."),
    ("The north wing was built in 1880.", "The house was built in 1850."),
    ("Sales rose by 5 % in March.", "Sales rose by 7 % in April."),
    ("The eastern half of the bridge was completed in 1972.", "The bridge was completed in 1975."),
    ("A second tunnel was completed in 1975.", "A tunnel was completed in 1972."),
    ("The club was founded in 1900 as a rowing club.", "The club was founded in 1920 as a football club."),
    ("Die Halle fasst 500 Menschen, bei geschlossener Galerie.", "Die Halle fasst 800 Menschen."),
    ("Im Sommer hat das Museum bis 20 Uhr geöffnet.", "Im Winter hat das Museum bis 17 Uhr geöffnet."),
    ("Le pont mesure 200 m en hiver.", "Le pont mesure 210 m."),
    ("It carries 40 passengers, or 60 standing.", "It carries 40 passengers."),
    ("The engine produces 100 kW at 5000 rpm.", "The engine produces 100 kW at 4500 rpm."),
    ("The engine produces 100 kW.", "The engine produces 136 hp."),
    ("Trains run every 10 minutes in peak hours.", "Trains run every 20 minutes."),
    ("The nearest station is 2 km away.", "The airport is 20 km away."),
    ("Smith, who was born in 1950, founded it in 1980.", "Smith founded it in 1981 and was born in 1950."),
)

CJK_REAL = (
    ("车站于1908年建成通车。", "车站于1911年建成通车。"),
    ("大桥全长820米。", "大桥全长846米。"),
    ("工場は1923年に設立された。", "工場は1932年に設立された。"),
    ("이 다리는 1931년에 완공되었다.", "이 다리는 1932년에 완공되었다."),
)

CJK_SEEMING = (
    ("2010年该市有41200人。", "2020年该市有46500人。"),
    ("大桥全长约820米。", "大桥全长846米。"),
    ("据说车站于1908年建成通车。", "据说车站于1911年建成通车。"),
    ("他在1990年获得冠军。", "他在1994年获得冠军。"),
    ("球队于1990年夺冠。", "球队于1994年夺冠。"),
    ("车站于１９０８年建成通车。", "车站于1908年建成通车。"),
    ("全长1,200米。", "全长1200米。"),
    ("東塔は1923年に完成した。", "西塔は1932年に完成した。"),
    ("工場は1932年に設立される予定だ。", "工場は1934年に設立される予定だ。"),
)


def found(one: str, other: str, before: str = BEFORE, following: str = "", dates: tuple[str, str] = ("", "")
          ) -> tuple[Clash, ...]:
    statements = [
        Statement(Claim("", source, "t", "^p1", text, date), before, following)
        for source, text, date in (("s1", one, dates[0]), ("s2", other, dates[1]))
    ]
    return find("eniac", statements, named(["eniac", "grace-hopper", "hopper", "acme-bridge"]))


@pytest.mark.parametrize(("one", "other"), (*REAL, *CJK_REAL))
def test_a_contradiction_is_found(one: str, other: str) -> None:
    """Nearly equal sentences with another figure, date or a denial, whichever comes first."""
    (clash,) = found(one, other)
    (turned,) = found(other, one)
    assert {clash.old.quote, clash.new.quote} == {one, other} == {turned.old.quote, turned.new.quote}


@pytest.mark.parametrize(("one", "other"), (*SEEMING, *CJK_SEEMING))
def test_what_only_seems_to_contradict_is_left_alone(one: str, other: str) -> None:
    """Reported views, other things, other times, other units, rounded and limited figures, names with numbers."""
    assert found(one, other) == () == found(other, one)


def test_a_view_that_is_reported_and_rejected_is_no_claim() -> None:
    """The sentence before a rejection is not its source's own."""
    one, other = "Hopper was born in 1906 in New York.", "Hopper was born in 1907 in New York."
    assert len(found(one, other)) == 1
    for rejection in ("That is wrong.", "This date is a mistake.", "In fact the register says 1906.", "Not so."):
        assert found(one, other, following=rejection) == ()


def test_he_and_it_are_of_the_sentence_before() -> None:
    """Without knowing whom a sentence is about nothing is compared."""
    one, other = "It was completed in 1945.", "It was completed in 1946."
    assert len(found(one, other)) == 1
    assert found(one, other, before="Colossus is another machine.") == () == found(one, other, before="")


def test_the_older_source_holds_the_old_claim() -> None:
    """By the dates of publication, which are told; without both the order given."""
    one, other = "The limit is 12.", "The limit is 10."
    (clash,) = found(one, other, dates=("2025-02-01", "2019-05-01"))
    assert clash.old.quote == other and "2019-05-01 and 2025-02-01" in clash.reason
    assert found(one, other, dates=("2025-02-01", ""))[0].old.quote == one


def test_kinds() -> None:
    """Each kind is named."""
    assert found(*REAL[0])[0].kind is ClashKind.NUMBER
    assert found("The Z3 was destroyed in 1943.", "The Z3 was destroyed in 1944.")[0].kind is ClashKind.DATE
    assert found("The Z3 was Turing complete.", "The Z3 was not Turing complete.")[0].kind is ClashKind.NEGATION


def test_one_source_does_not_contradict_itself() -> None:
    """What one source says twice is for its author."""
    claims = [Claim("", "s1", "t", "^p1", text) for text in REAL[0]]
    assert find("eniac", [Statement(claim) for claim in claims], named(["eniac"])) == ()


LETTERS = string.ascii_letters + string.digits + " .,-–()%$€:;'\"[]^#不是1945年"


@settings(max_examples=150, deadline=None)
@given(st.text(LETTERS, max_size=120), st.text(LETTERS, max_size=120))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    """No sentence makes it fail, and equal ones never contradict each other."""
    form_of(one, frozenset())
    found(one, other)
    assert found(one, one) == ()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 99_999), st.integers(2, 99_999), st.sampled_from(["visitors", "rooms", "kilometres", "%"]))
def test_figures_of_any_size(one: int, other: int, unit: str) -> None:
    """Equal figures agree however they are written; others contradict each other unless one is the other rounded."""
    told = [f"The museum has {value} {unit} a year." for value in (f"{one:,}", one, f"{other:,}")]
    assert found(told[0], told[1]) == ()
    far = abs(one - other) > 0.5 * max(one, other)
    assert not far or len(found(told[1], told[2])) == 1 or 1000 <= one < 2100 or 1000 <= other < 2100
