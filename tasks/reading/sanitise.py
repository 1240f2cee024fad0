"""Taking out of a text what a reader would not see, and noticing orders to a machine.

A source is data. Hidden text is removed and counted, so that nobody cites what nobody could read. Text that
addresses a machine stays, for it may be quoted, but its page waits for a person. Precision matters more than recall
here: what a source says can reach no tool, so an alarm is a courtesy, and a false one costs a person's time every
night.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from tasks.markdown.letters import beyond_ascii

# --- invisible characters --------------------------------------------------------------------------------------------

_JOINING = r"\u0600-\u08ff\u0900-\u0dff\u0e80-\u0eff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_EMOJI = r"\u200d\ufe0f\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff\U000e0020-\U000e007f"
_HIDDEN = re.compile(
    r"(?P<flag>\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{1,8}\U000e007f)"  # flags of regions are visible
    rf"|(?P<join>(?<=[{_JOINING}])[\u200c\u200d]+|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}]))"  # shape what stands beside them
    r"|(?P<variant>(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
    r"[\U000e0100-\U000e01ef](?![\U000e0100-\U000e01ef]))"
    # No words hide in these, so they are not counted.
    r"|(?P<quiet>[\u00ad\u200e\u200f\u061c\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]+)"
    r"|[\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufeff\u180e\u115f\u1160\u3164\uffa0"
    r"\ufff9-\ufffb\u202a-\u202e\u2066-\u2069"
    r"\U000e0000-\U000e007f\U000e0100-\U000e01ef]+|[\ufe00-\ufe0f]{2,}"
)
_VISIBLE_ASCII = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SUSPECT = re.compile(  # every character that `_HIDDEN` takes out; a plain set is searched many times as fast
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_TAG_CHARACTERS = re.compile(r"[\U000e0020-\U000e007e]{4,}")


class _Counter:
    """Counts the pieces that a substitution takes out."""

    __slots__ = ("removed",)

    def __init__(self) -> None:
        self.removed = 0

    def __call__(self, match: re.Match[str]) -> str:
        if match.lastgroup in ("flag", "join", "variant"):
            return match.group()
        self.removed += match.lastgroup != "quiet"
        return ""


def clean(text: str) -> tuple[str, int]:
    """The text without invisible characters, and how many pieces were taken out (typographic ones not counted)."""
    if not (_VISIBLE_ASCII if text.isascii() else _SUSPECT).search(text):
        return text, 0
    counter = _Counter()
    return _HIDDEN.sub(counter, text), counter.removed


def smuggled(text: str) -> str:
    """What invisible tag characters in a text spell out, as plain letters."""
    if text.isascii():
        return ""
    return " ".join("".join(chr(ord(c) - 0xE0000) for c in run) for run in _TAG_CHARACTERS.findall(text))


# --- orders to a machine ---------------------------------------------------------------------------------------------

_WHAT_EN = r"(?:instructions?|prompts?|directives|guidelines|commands|system messages?|safety (?:rules|guidelines))"
_WHOSE_EN = r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|your|system|safety)"


@dataclass(frozen=True, slots=True)
class _Rule:
    """The pattern of an order, and what a text must hold before that is worth a search.

    Of each of `words` one stands in whatever the pattern finds; a letter beyond ASCII parts words there as a blank
    does. A rule without them finds nothing in plain ASCII. So does one of the `pieces` where there are any.
    """

    pattern: str
    words: tuple[frozenset[str], ...]
    pieces: tuple[str, ...]


def _rule(pattern: str, *words: str, pieces: tuple[str, ...] = ()) -> _Rule:
    return _Rule(pattern, tuple(frozenset(group.split()) for group in words), pieces)


_RULES: tuple[_Rule, ...] = (
    _rule(
        rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|every|everything|each|the|of|these"
        rf"|those|and)\s+){{0,4}}(?:{_WHOSE_EN}\s+){{1,3}}{_WHAT_EN}",
        "ignore disregard forget override bypass",
        "previous prior above earlier preceding foregoing existing original initial your system safety",
    ),
    _rule(
        r"\b(?:ignore|disregard|forget)\s+(?:all|everything)\s+(?:(?:that|which)\s+)?(?:(?:you\s+(?:were"
        r"|have\s+been)\s+told)|(?:written\s+)?(?:above|before\s+this))",
        "ignore disregard forget",
        "all everything",
    ),
    _rule(
        r"\bignorier(?:e|en|t)\s+(?:sie\s+)?(?:bitte\s+)?(?:alle|die|deine|ihre|sämtliche)?\s*(?:bisherigen"
        r"|vorherigen|vorigen|vorangegangenen|obigen|früheren)\s+(?:anweisungen|instruktionen|befehle"
        r"|vorgaben|regeln)",
        "ignoriere ignorieren ignoriert",
    ),
    _rule(
        r"\bignore[zr]?\s+(?:toutes\s+)?(?:les|tes|vos)\s+(?:instructions|consignes|directives"
        r"|règles)\s+(?:précédentes|antérieures|ci-dessus)",
        "ignore ignorez ignorer",
        "les tes vos",
    ),
    _rule(
        r"\b(?:ignora|ignore|ignorar|olvida|olvide)\s+(?:todas\s+)?(?:las\s+|tus\s+|sus\s+)?(?:instrucciones"
        r"|órdenes|indicaciones|reglas)\s+(?:anteriores|previas)",
        "ignora ignore ignorar olvida olvide",
        "instrucciones rdenes indicaciones reglas",
    ),
    _rule(
        r"\b(?:ignora|ignorate|dimentica)\s+(?:tutte\s+)?(?:le\s+)?(?:istruzioni|regole)\s+(?:precedenti|sopra)",
        "ignora ignorate dimentica",
    ),
    _rule(
        r"\b(?:ignore|ignora|esqueça)\s+(?:todas\s+)?(?:as\s+)?(?:instruções|ordens|regras)\s+(?:anteriores"
        r"|prévias)",
        "ignore ignora esque",
        "instru ordens regras",
    ),
    _rule(
        r"\bnegeer\s+(?:alle\s+)?(?:de\s+)?(?:vorige|eerdere|voorgaande)\s+(?:instructies|opdrachten|regels)",
        "negeer",
    ),
    _rule(
        r"\b(?:игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?)\s+(?:все\s+)?(?:предыдущие|прежние"
        r"|прошлые)\s+(?:инструкции|указания|команды|правила)",
        pieces=("игнорируй", "забудь"),
    ),
    _rule(
        r"(?:忽略|无视|無視|忽視|忘记|忘記)(?:掉)?(?:所有|全部|一切|你)?(?:的)?(?:之前|以前|先前|以上|上面|前面|此前)(?:的)?(?:所有|全部)?(?:的)?(?:指令"
        r"|指示|命令|提示|规则|規則)",
        pieces=("忽略", "无视", "無視", "忽視", "忘记", "忘記"),
    ),
    _rule(
        r"(?:これまで|以前|上記|前)の(?:すべての|全ての)?(?:指示|命令|プロンプト)を(?:すべて|全て)?(?:無視|忘れ)",
        pieces=("無視", "忘れ"),
    ),
    _rule(
        r"(?:이전|위|앞)(?:의)?\s*(?:모든\s*)?(?:지시|명령|지침|프롬프트)(?:사항)?(?:을|를)?\s*(?:모두\s*)?(?:무시|잊)",
        pieces=("무시", "잊"),
    ),
    _rule(
        r"تجاهل\s+(?:جميع\s+|كل\s+)?(?:التعليمات|الأوامر)\s+السابقة",
        pieces=("تجاهل",),
    ),
    _rule(
        r"\b(?:zignoruj|ignoruj|pomiń|zapomnij)(?:cie)?\s+(?:o\s+)?(?:wszystkie\s+|wszystkich\s+)?(?:poprzedni|wcześniejs|dotychczasow)"
        r"\w+\s+(?:instrukcj|polece|zasad)\w+",
        "zignoruj zignorujcie ignoruj ignorujcie pomi zapomnij zapomnijcie",
    ),
    _rule(
        r"\b(?:önceki|yukarıdaki)\s+(?:tüm\s+|bütün\s+)?(?:talimat|komut|kural)\w*\s+(?:yok\s+say|görmezden\s+gel|unut)",
        "nceki yukar yukaridaki",
    ),
    _rule(
        r"(?:पिछले|पहले\s+के|उपरोक्त)\s+(?:सभी\s+)?(?:निर्देशों|आदेशों|नियमों)\s+(?:को|की)\s+(?:अनदेखा|नज़रअंदाज़|उपेक्षा|भूल)",
        pieces=("निर्देशों", "आदेशों", "नियमों"),
    ),
    _rule(
        r"\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:of\s+)?what(?:ever)?\s+you\s+(?:were|have\s+been)\s+(?:told|asked|taught)",
        "ignore disregard forget",
        "what whatever",
    ),
    _rule(
        r"\b(?:note|message|memo|instructions?|request)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:ai|llm|language\s+model|chatbot|bot"
        r"|assistant)s?\b[^.\n]{0,60}\b(?:please|must|should|mark|ignore|skip|add|write|approve|rate|always|do\s+not)\b",
        "note message memo instruction instructions request",
        "ai ais llm llms model models chatbot chatbots bot bots assistant assistants",
        pieces=tuple(
            f"{note} {to}"
            for note in ("note", "message", "memo", "instruction", "instructions", "request")
            for to in ("to", "for")
        ),
    ),
    _rule(
        r"\b(?:you\s+are\s+now\s+the\s+administrator|(?:mark|rate|publish|approve)\s+this\s+(?:page|note|source)\s+(?:as\s+(?:of\s+)?high"
        r"\s+confidence|without\s+(?:a\s+)?review))\b",
        "administrator confidence review",
        "now mark rate publish approve",
        pieces=("now the administrator", "this page", "this note", "this source"),
    ),
    _rule(
        r"\b(?:reveal|print|repeat|output|leak|show)\s+(?:me\s+)?(?:your|the)\s+(?:full\s+|entire\s+"
        r"|hidden\s+|secret\s+)?(?:system\s+prompt|initial\s+instructions|hidden\s+instructions)",
        "reveal print repeat output leak show",
        "system initial hidden",
        pieces=("system prompt", "initial instructions", "hidden instructions"),
    ),
    _rule(
        r"\byou\s+are\s+now\s+(?:in\s+)?(?:dan\b|developer\s+mode|jailbroken|unrestricted|an?\s+unrestricted"
        r"|root\b|admin(?:istrator)?\s+mode)",
        "now",
        "dan developer jailbroken unrestricted root admin administrator",
        pieces=("you are now",),
    ),
    _rule(
        r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|alert|notify|mention\s+(?:this"
        r"|it)\s+to)\s+(?:the\s+)?(?:user|human|operator|owner)\b",
        "user human operator owner",
        "tell inform alert notify mention",
        "not don never",
    ),
    _rule(
        r"\bif\s+you(?:'re|\s+are)\s+an?\s+(?:ai|a\.i\.|artificial\s+intelligence|llm"
        r"|large\s+language\s+model|language\s+model|chatbot|ai\s+(?:assistant|agent"
        r"|model))\b[^.\n]{0,80}?\b(?:you\s+(?:must|should|will|need)|please|then|say|write|include|recommend"
        r"|output|reply|respond|add|delete|ignore)\b",
        "if",
        "ai i artificial llm language chatbot",
        pieces=("if you are a", "if you're a"),
    ),
    _rule(
        r"\b(?:attention|note|message|instructions?|notice|important)\b\s*(?:to|for)?\s*(?::\s*)?(?:all\s+"
        r"|any\s+)?\b(?:ai\s+(?:assistants?|agents?|models?|systems?|crawlers?)|llms?"
        r"|large\s+language\s+models?|language\s+models?|chatbots?)\s*(?::|-|–|—|,\s*(?:you|please|ignore"
        r"|always|do))",
        "attention note message instruction instructions notice important",
        "ai llm llms language chatbot chatbots",
    ),
    _rule(
        r"\b(?:ai|llm)\s+(?:assistants?|agents?|models?|systems?)\s+(?:that\s+(?:are\s+)?)?(?:reading"
        r"|processing|summari[sz]ing|indexing)\s+this\b[^.\n]{0,80}\b(?:must|should|shall|are\s+required)\b",
        "ai llm",
        "reading processing summarising summarizing indexing",
    ),
    _rule(
        r"\bwhen\s+(?:you\s+)?(?:summari[sz]ing|processing|indexing|reading|compiling)\s+this\s+(?:page"
        r"|document|article|text|source|file)\s*,?\s*(?:you\s+(?:must|should)|always|please|do\s+not|only|say"
        r"|state|include|write|recommend)\b",
        "when",
        "reading processing summarising summarizing indexing compiling",
        pieces=tuple(f"{doing} this" for doing in ("reading", "processing", "ising", "izing", "indexing", "compiling")),
    ),
    _rule(
        r"\b(?:mark|set|flag|treat)\s+(?:this|every|all|each|the)\s+(?:of\s+)?(?:the\s+|these\s+)?(?:pages?"
        r"|sources?|candidates?|documents?|notes?)\s+(?:as\s+)?(?:approved|trusted|verified|reviewed"
        r"|promoted)\b",
        "approved trusted verified reviewed promoted",
        "mark set flag treat",
        "page pages source sources candidate candidates document documents note notes",
    ),
    _rule(
        r"\b(?:delete|remove|erase|overwrite)\s+(?:the\s+)?(?:files?\s+)?[\w./-]*\b(?:log|index|purpose"
        r"|routing)\.md\b",
        "md",
        "delete remove erase overwrite",
    ),
    _rule(
        r"\bend\s+of\s+(?:the\s+)?(?:source|document|context|user\s+input)\b\W{0,12}(?:begin|start|new"
        r"|system)\b[^.\n]{0,30}\b(?:instructions?|prompt|message)",
        "end",
        "source document context input",
        "begin start new system",
        pieces=("end of",),
    ),
    _rule(
        r"\b(?:new|updated|real|actual)\s+(?:system\s+)?instructions?\s*:\s*(?:you|ignore|do\s+not|always"
        r"|from\s+now|delete|reply|respond|output|mark|write|say)\b",
        "instruction instructions",
        "new updated real actual",
    ),
    _rule(
        r"</?\s*(?:source|sources|document|untrusted|user_input|context|instructions?|system|system_prompt"
        r"|assistant|tool_result"
        r"|function_results?)\s*>\s*\W{0,6}(?:\[?(?:system|user|assistant|developer|human)\]?\s*[:>\]]|you\b"
        r"|ignore\b|new\b|now\b|mark\b|delete\b|follow\b)",
        "source sources document untrusted input context instruction instructions system assistant result results",
    ),
    _rule(
        r"<\|(?:im_start|im_end|endoftext|system|user|assistant|eot_id|start_header_id|end_header_id"
        r"|begin_of_text)\|>",
        "im endoftext system user assistant eot header begin",
    ),
    _rule(
        r"\[/?INST\]|<</?SYS>>|<start_of_turn>|<end_of_turn>",
        "inst sys turn",
    ),
)
_ROLE = re.compile(
    r"(?:^|\n|[>.!?]\s?)[ \t]{0,8}(?:#{1,4}\s*"
    r"|\[|\*\*)?(?:SYSTEM|ASSISTANT|DEVELOPER)(?:\s+(?:PROMPT|MESSAGE|OVERRIDE|NOTE|INSTRUCTIONS?))?(?:\]"
    r"|\*\*)?\s*:\s*"
    r"(?i:you|ignore|mark|delete|approve|execute|run|reveal|do not|never|always|from now|output|reply"
    r"|respond|treat|set|override|disregard|forget|publish|promote|send)\b"
)
_ONLY_LETTERS = bytes(code if chr(code).isalpha() and code < 128 else 32 for code in range(256))
_QUOTED = re.compile(
    r"“[^”\n]{1,600}”|‘[^’\n]{1,600}’|«[^»\n]{1,600}»|„[^“”\n]{1,600}[“”]|「[^」\n]{1,600}」|『[^』\n]{1,600}』"
    r"|\"[^\"\n]{1,600}\"|`[^`\n]{1,600}`|(?<!\w)'[^'\n]{1,600}'(?!\w)"
)
_ABOUT = re.compile(
    r"prompt.?injection|jailbreak|attacker|malicious|adversari|so-called|such as|for example|e\.g\."
    r"|phrases? like|researchers?|provenance",
    re.IGNORECASE,
)


_DISGUISED = re.compile("[\u0370-\u03ff\u0400-\u04ff\uff21-\uff5a\U0001d400-\U0001d7ff]")
_LOOK_ALIKE = str.maketrans(
    "аеорсухіѕјһԁԛԝѵοαινΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХІЅЈ",
    "aeopcyxisjhdqwvoaivABEZHIKMNOPTYXABEKMHOPCTYXISJ",
)
"""Cyrillic and Greek letters that look like Latin ones."""


def orders(text: str) -> str:
    """The first words of a text that order a machine about, or ''.

    Words in quotation marks, and sentences that speak about such attacks, are reports of an order and not one.
    """
    found = _orders(text) if text else ""
    if not found and _DISGUISED.search(beyond_ascii(text)):
        found = _orders(unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKE))
    return found


def _orders(text: str) -> str:
    # Few texts need one of the patterns, so that they are compiled then; `re` keeps them.
    patterns = [re.compile(rule.pattern, re.IGNORECASE) for rule in _fitting(text.lower())]
    if any(role in text for role in ("SYSTEM", "ASSISTANT", "DEVELOPER")):
        patterns.append(_ROLE)
    spans: list[tuple[int, int]] | None = None
    for pattern in patterns:
        for match in pattern.finditer(text):
            if spans is None:
                spans = [quoted.span() for quoted in _QUOTED.finditer(text)]
            if any(start < match.end() and match.start() < end for start, end in spans):
                continue
            if not _ABOUT.search(_sentence(text, match.start(), match.end())):
                return " ".join(match.group().split())
    return ""


def _fitting(lowered: str) -> list[_Rule]:
    """The rules that may find something: to look a text's words up takes a tenth of the time of searching it."""
    words = frozenset(lowered.encode("utf-8", "replace").translate(_ONLY_LETTERS).decode("ascii").split())
    foreign = any(map(str.isalpha, set(beyond_ascii(lowered))))
    rules = [rule for rule in _RULES if (rule.words or foreign) and not any(map(words.isdisjoint, rule.words))]
    line = " ".join(lowered.split()) if any(rule.pieces for rule in rules) else ""
    return [rule for rule in rules if not rule.pieces or any(map(line.__contains__, rule.pieces))]


def _sentence(text: str, start: int, end: int) -> str:
    begin = max(text.rfind(mark, 0, start) for mark in (". ", "! ", "? ", "\n", "。")) + 1
    ends = [position for mark in (". ", "! ", "? ", "\n", "。") if (position := text.find(mark, end)) >= 0]
    return text[begin : min(ends, default=len(text))]
