"""Which sentences of a source are worth quoting: central ones, from all sections, none that dangles or sells."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from tasks.markdown import sentences
from tasks.markdown.letters import letters

_FURNITURE = re.compile(  # of a lower-case text: the engine passes over words with another first letter
    r"""^(?:subscribe|sign\ (?:up|in)\b|log\ ?in\b|register\b|follow\ (?:us|me|@)|share\ (?:this|on|via)|
    read\ (?:more|also|next)|see\ also\b|
    click\ (?:here|to)|tap\ (?:here|to)|continue\ reading|advertisement|sponsored|most\ (?:read|popular|viewed)|
    related\ (?:articles?|stories|
    posts?|topics|content)|recommended|you\ may\ also|more\ (?:on\ this|from|stories)|(?:photo|image|picture|
    foto)(?:graph)?s?\s?(?:by|credit|:|courtesy|of\b.*getty)|
    (?:photograph|image|picture)\ (?:caption|copyright|source)|media\ caption|getty\ images|(?:©|\(c\)|copyright)\b|
    all\ rights\ reserved|skip\ to|jump\ to|back\ to\ top|
    (?:this\ (?:site|website|page)\ uses|we\ use)\ cookies|accept\ (?:all\ )?cookies|privacy\ policy|terms\ (?:of|
    and)|
    last\ (?:updated|modified|edited)\b|(?:published|posted|updated)(?:\ on|\ at|:)|\d+\ (?:min(?:ute)?s?\ read|
    comments?|shares?|views)\b|
    leave\ a\ (?:comment|reply)|comments?\ (?:are\ closed|\(\d+\))|please\ (?:enable|subscribe|share|sign)|
    enable\ javascript|loading\b|
    download\ (?:the\ app|pdf)|get\ the\ app|listen\ to\ this|watch:|video:|play\ video|newsletter|send\ us\b|
    get\ .{3,60}\ (?:delivered|in\ your\ inbox)|\[(?:button|related|caption|embed|read)|tags?:|categor(?:y|ies):|
    filed\ under|
    print\ this|email\ this|support\ us|donate\b|e-?mail\ (?:us|me|the\ author)|contact\ us|join\ (?:us|our|
    the\ (?:conversation|discussion))|
    (?:hi|hey|hello)\ (?:everyone|everybody|guys|all|there)\b|welcome\ (?:back\ )?to\ (?:my|our|the)\ (?:channel|
    podcast|show|newsletter)|
    don't\ forget\ to\ (?:like|subscribe)|(?:like\ and|hit)\ subscribe|thanks\ for\ (?:watching|reading|listening)|
    let\ me\ know\ in\ the\ comments|
    abonnieren|folgen\ sie|mehr\ (?:zum\ thema|lesen)|lesen\ sie|anzeige\b|lire\ aussi|s'abonner|partager|
    suscríbete|leer\ más|comparte|
    подпис(?:ывайтесь|аться)|читайте\ также|реклама\b|
    поделиться|相关阅读|相關閱讀|关注我们|订阅|分享到|责任编辑|返回顶部|関連記事|シェア|اشترك|
    شارك|اقرأ\ أيضا)""",
    re.X,
)
_ANYWHERE = re.compile(
    r"\b(?:all rights reserved|getty images|click here|sign up for|subscribe to (?:our|the|my)|privacy policy|"
    r"terms of (?:use|service)|"
    r"unsubscribe|this (?:article|story|post|piece) (?:was |is )?(?:originally |first |sponsored)|opinions (?:are|"
    r"expressed)|"
    r"(?:visit|find|like|follow) .{1,40} on (?:facebook|twitter|instagram)|disclosure:|disclaimer:|"
    r"affiliate links?|"
    r"follow us on|download our app|cookie policy|like and subscribe|hit that subscribe|to your inbox)\b|点击(?:这里|"
    r"此处)|扫描二维码",
    re.I,
)
_ASKING = (  # words of which one stands wherever `_ANYWHERE` matches
    *("all rights reserved", "getty images", "click here", "sign up for", "subscribe", "privacy policy", "terms of"),
    *("this article", "this story", "this post", "this piece", "opinions", " on facebook", " on twitter"),
    *(" on instagram", "disclosure:", "disclaimer:", "affiliate", "follow us", "our app", "cookie policy"),
    *("to your inbox", "点击", "扫描二维码"),
)
_END_MATTER = re.compile(
    r"""^(?:\d+\.?\s*)?(?:references?|bibliography|works\ cited|literature(?:\ cited)?|external\ links|see\ also|
    further\ reading|foot-?notes|end-?notes|
    acknowledge?ments?|related(?:\s\w+)?|comments?|leave\ a\ (?:reply|comment)|share(?:\ this.*)?|contents|
    table\ of\ contents|navigation|menu|
    about\ the\ authors?|author\ (?:information|contributions?)|conflicts?\ of\ interests?|competing\ interests?|
    funding|subscribe.*|newsletter.*|
    sources|(?:image\ |photo\ )?credits|list\ of\ (?:figures|tables|abbreviations)|index|bildquellen|tags|
    categories|most\ (?:read|popular)|more\ (?:on\ this|from).*|advertisement|
    (?:literatur|abbildungs|tabellen|symbol|stichwort|inhalts)?verzeichnis|literatur|einzelnachweise|weblinks|
    siehe\ auch|références|bibliographie|voir\ aussi|liens\ externes|referencias|enlaces\ externos|véase\ también|
    литература|примечания|ссылки|см\.\ также|参考文献|参考资料|參考資料|
    外部链接|外部鏈接|参见|相关条目|脚注|関連項目|外部リンク|出典|المراجع|مراجع|
    وصلات\ خارجية)\s*:?$""",
    re.I | re.X,
)
_LIST = 8  # items of a list that is quoted whole
_FORMULA_SIGN = re.compile(r"[∈∉∀∃→⇒⇔⊆⊂≤≥∑∏∫∂∇‖≅≡∘◦×⋃⋂]")
_FUNCTION = re.compile(r"\w\(\w\)\s?=")
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence of the source before it is judged."""

    text: str
    anchor: str
    section: int
    paragraph: int
    item: bool
    leans: bool
    words: tuple[str, ...]


def requests_in(text: str) -> tuple[str, ...]:
    """The words by which pages ask their readers for something, as far as they stand in a whole text."""
    return tuple(filter(text.lower().__contains__, _ASKING))


def is_furniture(text: str, requests: Sequence[str] = _ASKING) -> bool:
    """Whether a sentence belongs to the page around the text (share buttons, credits, navigation).

    `requests`: those in the whole text, where they are known, so that not every sentence is searched for all.
    """
    if len(text) < 200 and _FURNITURE.match(text.lower()):
        return True
    if text.count("://") > 1 or (requests and len(text) < 240 and _asks(text, requests)):
        return True
    return text.startswith(("[", "【")) and text.endswith(("]", "】"))


def _asks(text: str, requests: Sequence[str]) -> bool:
    lowered = text.lower()
    return any(map(lowered.__contains__, requests)) and _ANYWHERE.search(text) is not None


def is_prose(text: str) -> bool:
    """Whether a sentence is mostly words: no formula, no row of single letters as broken PDFs give."""
    if ":=" in text or ("(" in text and _FUNCTION.search(text)):
        return False
    if not text.isascii() and _FORMULA_SIGN.search(text):
        return False
    blanks = text.count(" ")
    return letters(text) >= 0.7 * (len(text) - blanks) and blanks <= 0.4 * len(text)


def is_end_matter(heading: str) -> bool:
    """Whether what stands under a heading is apparatus (references, see also, comments)."""
    return _END_MATTER.match(heading.strip()) is not None


def scores(drafts: Sequence[Draft], title: str) -> list[float]:
    """How central each sentence is: frequent words of the source, its title's words, figures, and an early place."""
    distinct_words = [set(draft.words) for draft in drafts]
    counts = Counter(chain.from_iterable(distinct_words))
    weight = {word: math.log1p(count) if count > 1 else 0.15 for word, count in counts.items()}
    head = set(sentences.words(title))
    found = []
    section, before = -1, -1
    for draft, distinct in zip(drafts, distinct_words, strict=True):
        size = max(len(draft.words), 5)
        score = sum(map(weight.__getitem__, distinct)) / size**0.7
        score *= 1 + 0.15 * min(3, len(distinct & head))
        if draft.section != section:
            score *= 1.35
        elif draft.paragraph != before:
            score *= 1.15
        section, before = draft.section, draft.paragraph
        if _FIGURE.search(draft.text):
            score *= 1.1
        if len(draft.words) < 4 or len(draft.text) > 450:
            score *= 0.6
        if draft.leans:
            score *= 0.85
        if not is_prose(draft.text):
            score *= 0.4
        if draft.text.endswith(("?", "？", "؟")):
            score *= 0.6
        found.append(score)
    return found


def budget(available: int, limit: int) -> int:
    """How many sentences to quote: all of a short source, under half of a long one, never more than the limit."""
    return min(limit, available if available <= 16 else 16 + round(0.33 * (available - 16)))


def choose(drafts: Sequence[Draft], score: Sequence[float], firm: Sequence[int], wanted: int) -> frozenset[int]:
    """Indexes of about `wanted` sentences, never more: the firm ones, each section's share, then the best of the rest.

    A sentence that leans on the one before it is taken only together with that one.
    """
    taken = set(firm[:wanted])
    by_section: dict[int, list[int]] = {}
    for at, draft in enumerate(drafts):
        by_section.setdefault(draft.section, []).append(at)
    best_first = sorted(range(len(drafts)), key=score.__getitem__, reverse=True)  # of equals the earlier one first
    heads = sorted(by_section, key=lambda part: (-max(score[at] for at in by_section[part]), part))
    spare = max(0, wanted - len(taken))
    share = dict.fromkeys(heads, 0)
    weight = {part: math.sqrt(len(by_section[part])) for part in heads}
    whole = sum(weight.values()) or 1.0
    for part in heads:
        share[part] = min(len(by_section[part]), max(1, int(spare * weight[part] / whole)))
    if len(heads) > max(2, wanted // 2):  # some sections well rather than each by one sentence
        kept = set(heads[: max(2, wanted // 2)])
        best_first = [at for at in best_first if drafts[at].section in kept]
        heads = [part for part in heads if part in kept]
    for part in heads:
        for at in sorted(by_section[part], key=score.__getitem__, reverse=True):
            if share[part] <= 0 or len(taken) >= wanted:
                break
            share[part] -= _take(drafts, at, taken, wanted)
    for at in best_first:
        if len(taken) >= wanted:
            break
        _take(drafts, at, taken, wanted)
    return frozenset(taken)


def _take(drafts: Sequence[Draft], at: int, taken: set[int], wanted: int) -> int:
    """Adds a sentence with those it leans on, if there is room; returns how many came in."""
    if at in taken:
        return 0
    if drafts[at].item:
        return _add(_list(drafts, at), taken, wanted)
    if drafts[at].text.endswith((":", "：")) and at not in taken:
        return 0  # it announces something, and comes only with that
    chain = [at]
    while drafts[chain[-1]].leans:
        before = chain[-1] - 1
        if before < 0 or drafts[before].section != drafts[at].section or len(chain) > 2:
            return 0 if len(drafts) > 3 else _add(chain, taken, wanted)
        if before in taken:
            break
        chain.append(before)
    return _add(chain, taken, wanted)


def _list(drafts: Sequence[Draft], at: int) -> list[int]:
    """A short list whole, with the line that announces it; of a long list the one item."""
    first = last = at
    while first > 0 and drafts[first - 1].item and drafts[first - 1].paragraph == drafts[at].paragraph:
        first -= 1
    while last + 1 < len(drafts) and drafts[last + 1].item and drafts[last + 1].paragraph == drafts[at].paragraph:
        last += 1
    found = list(range(first, last + 1)) if last - first < _LIST else [at]
    before = drafts[first - 1] if first > 0 else None
    if before is not None and before.text.endswith((":", "：")) and before.section == drafts[at].section:
        found.append(first - 1)
    return found


def _add(chain: list[int], taken: set[int], wanted: int) -> int:
    chain = [at for at in chain if at not in taken]
    if len(taken) + len(chain) > wanted:
        return 0
    taken.update(chain)
    return len(chain)
