"""The words by which the search of contradictions tells dates, limits, rumours, plans and events.

English with care; German, French and Spanish with their most usual words. Phrases are parted by `|` or white space
where the list says so.
"""

from __future__ import annotations

import re


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> str:
    """An alternation of the phrases between `|`, longest first, so that 'bis zum' goes before 'bis'."""
    return "|".join(sorted((" ".join(part.split()) for part in text.split("|")), key=len, reverse=True))


MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar janvier enero",
            "feb february februar février febrero",
            "mar march märz mars marzo",
            "apr april avril abril",
            "may mai mayo",
            "jun june juni juin junio",
            "jul july juli juillet julio",
            "aug august août agosto",
            "sep sept september septembre septiembre",
            "oct october okt oktober octobre octubre",
            "nov november novembre noviembre",
            "dec december dez dezember décembre diciembre",
        ),
        1,
    )
    for name in names.split()
}
_ROLES = {
    "since": "since|as of|from|starting|seit|ab|depuis|desde|à partir de",
    "until": "until|till|to|through|bis|bis zum|jusqu'en|hasta|au",
    "before": "before|by|vor|avant|antes de",
    "after": "after|nach|après|después de",
}
ROLE_OF = {word: role for role, words in _ROLES.items() for word in words.split("|")}
"""What a preposition before a date says; any other one says 'at'."""

_AT = "in|on|at|during|im|am|in the year|in the|on the|im jahr|im jahre|en|le|el|en el|el año|en l'an"
_MONTH = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
_PREPOSITION = _phrases("|".join([_AT, *_ROLES.values()]))
_ABOUT = (
    r"about|around|circa|ca\.?|c\.|roughly|approximately|some|nearly|almost|etwa|rund|gegen|vers|environ|hacia|"
    r"the early|the late|the mid|early|late|mid-?"
)


def _year(name: str) -> str:
    return rf"(?P<{name}>1[0-9]{{3}}|20[0-9]{{2}})(?![\d%°$€£])"


DATE = re.compile(
    rf"(?:(?<!\w)(?P<role>{_PREPOSITION})\s+)?(?:(?P<about>{_ABOUT})\s*)?(?:"
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|er)?\.?\s+(?:of\s+|de\s+)?(?P<month>{_MONTH})\.?"
    rf"(?:,?\s+(?:de\s+)?{_year('y1')})?"
    rf"|(?P<month2>{_MONTH})\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+{_year('y2')})?"
    rf"|(?P<month3>{_MONTH})\.?\s+(?:of\s+|de\s+)?{_year('y3')}"
    rf"|(?<!\d){_year('iy')}-(?P<imonth>\d\d)-(?P<iday>\d\d)(?!\d)"
    rf"|(?<![\w.,$€£-]){_year('y4')}(?P<decade>s|er|er Jahren)?(?![\w-])(?![.,]\d)(?!\s*[-–/]\s*\d)"
    rf")",
    re.I,
)
"""A date with the preposition before it: `role`, `about`, and one of the forms of day, month and year."""

_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = {
    word: value
    for value, word in (
        *enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2),
        *((10 * tens, word) for tens, word in enumerate(_TENS, 2)),
    )
}
"""Numbers that are written out; 'one' is left out, for it is a pronoun more often than not."""

SCALES = {"thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "millionen": 1e6, "tausend": 1e3}

TOKEN = re.compile(
    r"(?P<money>[$€£¥]\s?)?"
    r"(?P<number>(?<![\w.,])\d{1,3}(?:[,\u202f\u00a0' ]\d{3})+(?![\d])(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?)"
    r"(?P<stuck>%|°C|°F|[$€£¥]|[^\W\d_]*(?:[\-'’.][^\W_]+)*)?"
    r"|(?P<word>[^\W\d_][^\W_]*(?:['’.\-+/][^\W_]+)*)|(?P<mark>[,;:()\[\]–—-]+)"
)
"""A number with what is written to it, a word, or a mark."""

RANGE = re.compile(r"\d\s?(?:[-–—]|to|bis|and|und)\s?\d|\b(?:between|zwischen|entre|or|oder|either)\b", re.I)

BOUND = re.compile(
    "("
    + _phrases(
        """at least|at most|up to|more than|less than|fewer than|over|under|below|above|maximum of|minimum of|
        no more than|
        mindestens|höchstens|bis zu|mehr als|weniger als|über|unter|au moins|au plus|plus de|moins de|más de|menos de|
        al menos"""
    )
    + r")\W+$",
    re.I,
)
"""Words right before a figure that make it a limit."""

ROUGHLY = re.compile(
    r"(?:about|around|circa|ca\.?|c\.|roughly|approximately|approx\.?|some|nearly|almost|an estimated|etwa|rund|"
    r"knapp|environ|près de|casi|unos|unas|cerca de|~|≈)\W*$",
    re.I,
)

NEGATED = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|will)"
    r"(?:\s+not\b(?!\s+(?:only|just|until|all|every|always|necessarily|yet|merely|simply))|n['’]t\b)|"
    r"\bcannot\b|\bnever\b|"
    r"\b(?:ist|sind|war|waren|wurde|wurden|hat|hatte|kann)\s+(?:\w+\s+)?nicht\b|"
    r"\bne\s+\w+\s+pas\b|\bn['’]\w+\s+pas\b|"
    r"\bno\s+(?:fue|fueron|es|son|era|eran|está|están|tiene|tuvo|ha|han)\b|"
    r"\bnon\s+(?:è|sono|era|erano|fu|furono|ha|hanno)\b|"
    r"\bnão\s+(?:foi|foram|é|são|era|eram|tem|teve)\b|"
    r"\b(?:is|zijn|was|waren|werd|werden|heeft|had)\s+(?:\w+\s+)?niet\b|"
    r"\bне\s+(?:был|была|было|были|является|имеет)\b",
    re.I,
)
"""A verb that is denied as a whole."""

DENIES = re.compile(r"\b(?:not|nicht|never|cannot|pas|niet|não|не)\b|n['’]t|\b(?:no|non)\s+", re.I)

OTHER_NEGATION = re.compile(
    r"\b(?:not|no|none|nor|neither|without|nothing|nobody|hardly|barely|unless|except|nicht|kein\w*|ohne|sans|sin|"
    r"jamais|nunca|ni|non|né|senza|nessun\w*|não|nem|sem|niet|geen|zonder|не|нет|без|ни)\b|n['’]t\b",
    re.I,
)

TENSES = tuple(
    (name, re.compile(rf"\b(?:{_phrases(words)})\b", re.I))
    for name, words in (
        (
            "past",
            """was|were|had|did|used to|formerly|originally|initially|at first|once|war|waren|wurde|wurden|hatte|
            hatten|früher|zunächst|était|étaient|avait|fut|era|fue|fueron""",
        ),
        ("future", "will|shall|is to|are to|wird|werden|sera|será"),
        (
            "present",
            "is|are|has|have|does|do|can|now|today|currently|ist|sind|hat|haben|heute|inzwischen|jetzt|est|sont",
        ),
    )
)

_REPORTED = r"""
    claim\w*|alleg\w*|rumou?r\w*|myth\w*|legend\w*|suppos\w*|reported\w*|wrong\w*|mistak\w*|erroneous\w*|false\w*|
    incorrect\w*|contrary|misconception\w*|according to|critics?|believ\w*|thought|said to|says?|said|states? that|
    stated that|argu\w*|asserts?|asserted|maintains? that|contends?|insist\w*|suggest\w*|speculat\w*|disput\w*|refut\w*|
    disprov\w*|den(?:y|ies|ied)|reject\w*|debunk\w*|doubt\w*|uncertain|unclear|unknown|debat\w*|
    gives? the year|dates? it|put it|sometimes|often|other sources|some sources|older sources|earlier sources|
    angeblich\w*|behaupt\w*|laut|zufolge|mythos|fälschlich\w*|irrtümlich\w*|heißt es|sagt\w*|
    prétend\w*|selon|soi-disant|mythe|supuest\w*|según|presunt\w*|mito"""
_NOT_CERTAIN = r"""
    perhaps|probably|possibly|presumably|likely|might|could|would|should|if|unless|estimat\w*|expect\w*|planned|
    propos\w*|predict\w*|forecast\w*|project(?:ed|ions?)|schedul\w*|intend\w*|intention|aim\w*|hop(?:e|ed|es)|goal|target|
    promis\w*|imagin\w*|example|e\.g|vermutlich|wahrscheinlich|vielleicht|soll|sollen|sollte\w*|könnte\w*|würde\w*|geplant\w*|
    geschätzt\w*|serai\w*|aurai\w*|peut-être|probablement|quizás|habría|podría"""
_OF_THE_SOURCE = r"""
    we|our|ours|wir|unser\w*|ich|nous|notre|nosotros|nuestr\w*|you|your|stud(?:y|ies)|survey\w*|paper|article|report|
    clinical trials?|sample|participants?|respondents?|patients?|retrieved|accessed|edited|updated|copyright|views|
    subscribers|comments|posted|ago|yesterday|tomorrow|(?:this|last|next) (?:year|month|week)|tonight|figure|table|
    chapter|section|page|see|step"""
_NOT_ITS_OWN = re.sub(r"\s*\|\s*", "|", "|".join((_REPORTED, _NOT_CERTAIN, _OF_THE_SOURCE)).strip())
NOT_ITS_OWN = re.compile(rf"\b(?:{_NOT_ITS_OWN})\b", re.I)
"""A sentence with one of these reports, guesses, plans, or speaks of its own source."""

LOWER_CASE = re.compile(r"\b(?:may|us|my|I|me)\b")
"""As `NOT_ITS_OWN`; with a capital they are a month and a country."""

REJECTED_NEXT = re.compile(
    r"(?:(?:but|yet|however)\W+)?(?:(?:this|that|it|these|both|neither|which) (?:\w+ ){0,4}?"
    r"(?:wrong|false|untrue|incorrect|mistake\w*|error\w*|myth|not (?:true|so|right|correct)|misread\w*|disprove\w*|"
    r"refuted|impossible|rejected|nonsense)|"
    r"in (?:fact|reality|truth)\b|actually\b|not so\b|wrong\b|nonsense\b|das (?:ist|war) (?:falsch|nicht|ein irrtum)|"
    r"tatsächlich\b|in wirklichkeit\b|c'est faux|en réalité|en realidad|es falso)",
    re.I,
)
"""How a sentence begins that rejects the one before it."""

PARTIAL = re.compile(
    r"\b(?:one|some|many|most|half|part|parts|each|any|either|several|few|all|every|none) of\b|\bon average\b|"
    r"\b(?:at most|at least|or more|or less|or so|mindestens|höchstens|im schnitt|en moyenne|au plus|au moins)\b"
    r"(?!\W+\d)",
    re.I,
)
"""What is said of a part, of an average, or with a limit behind its figure."""

NARROWS = _listed(
    """second third fourth fifth last again another new old time times half part partly phase stage average maximum
    minimum total upper lower inner outer left right north south east west northern southern eastern western"""
)
"""Words with which one sentence speaks of another thing than the one without them."""

QUOTED = re.compile(r"[\"“”„«»]")
PRONOUN = re.compile(r"[\"“(]?(?:it|he|she|they|this|these|its|his|her|their|er|sie|es|il|elle|ils)\b", re.I)

NUMBERED = _listed(
    """version type model phase part act episode season volume level class category mark generation building room line
    route highway stage grade round group day week series release mode option channel track lane gate platform teil band
    typ stufe klasse modèle tome étape"""
)
"""What is told apart by a number, as in 'version 2'."""

ONCE = _listed(
    """founded established completed finished built constructed born died invented discovered released
    published launched opened
    introduced patented created began started ended moved retired dissolved closed demolished destroyed sank sunk
    premiered incorporated chartered signed ratified abolished found first formed installed delivered commissioned
    decommissioned dismantled unveiled ceased joined left married graduated discontinued inaugurated erected burned
    gegründet geboren gestorben starb fertiggestellt vollendet gebaut errichtet erfunden entdeckt
    veröffentlicht eröffnet eingeführt abgerissen zerstört aufgelöst unterzeichnet begann endete erschien entstand
    fondé fondée né née mort morte construit construite achevé achevée inventé inventée découvert découverte publié
    publiée inauguré inaugurée détruit détruite signé
    fundado fundada nació murió construido construida terminado terminada inventado inventada descubierto descubierta
    publicado publicada inaugurado inaugurada destruido destruida"""
)
"""What happens once: another date for it is another claim. A prize can be won every year."""

BY_PLACE = _listed("released published launched opened introduced premiered ratified")
"""What happens once in each place."""
