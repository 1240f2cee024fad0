"""Pages that hold no article: an empty shell for scripts, a cookie notice alone, a teaser before a paywall.

An extractor returns whatever it finds on such a page as if it were the article. Each of the three needs its own
next step, and a real article that merely carries a cookie bar or an advertisement for a subscription must pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tasks.markdown.letters import letters
from tasks.records import BlockKind, Outcome, Part
from tasks.sources.addresses import join

SHORT = 1200  # characters: above this an article stands on its own, whatever else the page says
VERY_SHORT = 400
LITTLE = 100  # ... and below this it is a greeting or a spinner's text
_ROOTS = frozenset({"root", "app", "__next", "__nuxt", "react-root", "app-root", "svelte", "main-app", "application"})
_SCRIPT = re.compile(
    r"(?:enable|activate|turn\s+on|need|requires?|without)\s+(?:to\s+(?:run|enable)\s+)?java\s?script"
    r"|java\s?script\s+(?:is\s+)?(?:required|disabled|must\s+be|to\s+run|needs)"
    r"|java\s?script\s+(?:aktivieren|einschalten|ist\s+deaktiviert)|activ(?:er|ez|ar|a|e)\s+(?:le\s+"
    r"|el\s+|o\s+)?java\s?script|include?\s+java\s?script|启用\s*javascript|javascriptを有効",
    re.IGNORECASE,
)
_CHECK = re.compile(
    r"checking your browser|verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot|unusual traffic"
    r"|cf-browser-verification|just a moment\.\.\.|enable cookies and reload",
    re.IGNORECASE,
)
_COOKIE = re.compile(
    r"\bcookies?\b|\bgdpr\b|\bconsent\b|einwilligung|datenschutz|privacy (?:policy|settings|choices)"
    r"|consentement|traceurs|privacidad|informativa",
    re.IGNORECASE,
)
_WALL = re.compile(
    r"subscribe\s+(?:now\s+)?(?:to|for)\s+(?:continue|read|unlimited|full|keep|access|get\s+(?:full"
    r"|unlimited))|subscri(?:be|ption)\s+(?:is\s+)?(?:required|needed)|(?:log"
    r"|sign)\s*in\s+(?:or\s+(?:subscribe|register|create\s+an\s+account)\s+)?to\s+(?:continue|read|keep)"
    r"|(?:to\s+)?(?:continue|keep)\s+reading\b[^.\n]{0,60}\b(?:subscri|sign|log\s*in|register|account"
    r"|member)|(?:this|the)\s+(?:article|story|content|post|page)\s+is\s+(?:only\s+)?(?:for"
    r"|available\s+(?:only\s+)?to|reserved\s+for|exclusive\s+to)\s+(?:paying\s+|paid\s+"
    r"|our\s+)?(?:subscribers|members)"
    r"|(?:subscriber|member|premium)[-\s]?(?:s)?[-\s](?:only|exclusive)\b|already\s+a\s+(?:subscriber"
    r"|member)\?|you(?:'ve|\s+have)\s+(?:reached|read|used)\s+(?:your|all|the)\b[^.\n]{0,40}\b(?:free"
    r"|limit|articles?)|unlock\s+(?:this|the\s+(?:full\s+)?)\s*(?:article|story|post)"
    r"|become\s+a\s+(?:member|subscriber)\s+to\s+(?:read|continue)"
    r"|start\s+your\s+free\s+trial\s+to\s+(?:read|continue)"
    r"|jetzt\s+(?:abonnieren|weiterlesen)|(?:weiterlesen|lesen)\s+mit\b|nur\s+für\s+abonnenten"
    r"|réservé\s+aux\s+abonnés|abonnez-vous\s+pour|(?:contenido\s+)?(?:exclusivo"
    r"|solo)\s+para\s+suscriptores|suscr[íi]bete\s+para|riservato\s+agli\s+abbonati"
    r"|abbonati\s+per\s+(?:leggere|continuare)|alleen\s+voor\s+abonnees|会員限定|有料会員|订阅后(?:继续)?阅读|登录后阅读"
    r"|続きを読むには|付费内容|会员专享|구독자\s*전용|유료\s*회원|exclusivo\s+para\s+assinantes|assine\s+para\s+(?:ler|continuar)"
    r"|только\s+(?:для\s+)?подписчик|оформите\s+подписку|(?:bli|logga\s+in)\b[^.\n]{0,40}\bför\s+att\s+läsa"
    r"|(?:kun|bare)\s+for\s+abonnenter|(?:bliv?|log(?:g)?\s+ind?)\b[^.\n]{0,40}\bfor\s+(?:at|å)\s+læ?se"
    r"|tylko\s+dla\s+(?:subskrybent|prenumerator)|vain\s+tilaajille|abonnenten\s+vorbehalten|abonelere\s+özel"
    r"|pouze\s+pro\s+předplatitele",
    re.IGNORECASE,
)
_LATER = "It is tried again in a later night."
_CHECK_IT = "Check the address."
_NOTICES = (  # short pages that a server sends as if they were what was asked for
    (
        re.compile(
            r"page\s+(?:that\s+)?(?:you\s*(?:'re|\s+are)?\s+(?:looking\s+for|requested)|requested)\b[^.\n]{0,60}"
            r"\b(?:not|no\s+longer|can't|doesn't|couldn't|moved|removed)\b|\b404\b[^.\n]{0,20}\bnot\s+found"
            r"|(?:seite|página|pagina|sidan?|strony|stránka)\b[^.\n]{0,30}\b(?:nicht\s+gefunden|existiert\s+nicht"
            r"|no\s+(?:existe|encontrada)|não\s+(?:existe|encontrada)|non\s+(?:trovata|esiste)|niet\s+gevonden"
            r"|hittades\s+inte|ikke\s+funnet|nie\s+znaleziono|nenalezena)|page\s+(?:est\s+)?introuvable"
            r"|страница\s+не\s+найдена|ページが見つかりません|页面不存在|找不到(?:该)?页面|페이지를\s*찾을\s*수\s*없",
            re.IGNORECASE,
        ),
        Outcome.NO_CONTENT,
        "the page says that nothing is there",
        _CHECK_IT,
    ),
    (
        re.compile(
            r"(?:down|closed|offline|unavailable)\s+for\s+(?:scheduled\s+)?maintenance|under\s+maintenance"
            r"|be\s+(?:right\s+)?back\s+(?:soon|shortly|later)|check\s+back\s+(?:soon|later)"
            r"|(?:service|temporarily)\s+unavailable|too\s+many\s+requests|rate\s+limit\s+exceeded|wartungsarbeiten"
            r"|en\s+maintenance|en\s+mantenimiento|in\s+manutenzione|em\s+manutenção|технические\s+работы"
            r"|メンテナンス中|系统维护",
            re.IGNORECASE,
        ),
        Outcome.BLOCKED,
        "the site says that it is away for now",
        _LATER,
    ),
    (
        re.compile(
            r"(?:not|un)\s*available\s+in\s+your\s+(?:country|region|location|area)|(?:due\s+to|for)\s+legal\s+reasons",
            re.IGNORECASE,
        ),
        Outcome.REFUSED,
        "the site does not show the page in this country",
        "Save it from a browser that may see it.",
    ),
    (
        re.compile(
            r"domain\s+(?:name\s+)?(?:is|may\s+be)\s+(?:for\s+sale|parked)|buy\s+this\s+domain|welcome\s+to\s+nginx!"
            r"|apache2?\s+(?:\w+\s+)?default\s+page|account\s+(?:has\s+been\s+)?suspended|domain\s+has\s+expired",
            re.IGNORECASE,
        ),
        Outcome.NO_CONTENT,
        "nobody keeps a page there: it is a provider's notice",
        _CHECK_IT,
    ),
)
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SIGN_IN = re.compile(
    r"^\W*(?:(?:please\s+)?(?:sign|log)[\s-]*in\b|anmeld(?:en|ung)\b|einloggen\b|(?:se\s+)?connecter\b|connexion\b"
    r"|(?:iniciar|inicio\s+de)\s+sesi[oó]n\b|acced[ie]|iniciar\s+sess[aã]o\b|entrar\b|(?:aan|in)loggen\b|logga\s+in\b"
    r"|log(?:g)?\s+ind?\b|вход\b|войти\b|登录|登入|ログイン|로그인)",
    re.IGNORECASE,
)
_NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?false', re.IGNORECASE)
_NOT_FOUND = re.compile(
    r"^\W*(?:(?:error\s*)?40[34]\b|(?:page|file|seite)\s+(?:was\s+)?(?:not\s+found|nicht\s+gefunden)"
    r"|not\s+found|access\s+denied|forbidden)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a raw page shows of walls."""

    not_free: bool  # says so itself, in its structured data
    scripts: int = 0
    body_characters: int = 0  # of text outside scripts and noscript
    captcha: bool = False
    shell: bool = False  # an empty mount point for a script framework
    noscript: str = ""
    text: str = ""  # the body's first words, for messages of walls
    title: str = ""


@dataclass(frozen=True, slots=True)
class Wall:
    """Why a page is not taken, and what to do."""

    outcome: Outcome
    reason: str
    next_step: str


def _look(tree: Any) -> PageFacts:
    """All facts about a parsed page."""
    scripts = sum(1 for _ in tree.iter("script"))
    body = tree.find("body") if tree.tag == "html" else tree
    noscript = " ".join(" ".join("".join(node.itertext()).split()) for node in tree.iter("noscript"))[:2000]
    text, size = _visible(body) if body is not None else ("", 0)
    shell = False
    for node in tree.iter("div", "app-root", "main", "section"):
        if (node.get("id") or "") in _ROOTS or node.tag == "app-root":
            shell = not "".join(node.itertext()).strip() or shell
    captcha = bool(
        tree.xpath("//*[contains(@class, 'captcha') or contains(@id, 'captcha') or contains(@src, 'captcha')]")
    )
    title = tree.find(".//title")
    return PageFacts(
        not_free=_not_free(tree),
        scripts=scripts,
        body_characters=size,
        captcha=captcha,
        shell=shell,
        noscript=noscript,
        text=text,
        title=(title.text or "").strip() if title is not None else "",
    )


def _not_free(tree: Any) -> bool:
    return any(
        node.text and "isAccessibleForFree" in node.text and _NOT_FREE.search(node.text) for node in tree.iter("script")
    )


def _visible(body: Any) -> tuple[str, int]:
    """The first 4,000 characters of a body's text and the size of all of it, without scripts, styles and noscript."""
    pieces, size = [], 0
    skipped: set[Any] = set()
    for node in body.iter():
        if node.tag in ("script", "style", "noscript", "template") or node.getparent() in skipped:
            skipped.add(node)
        elif node.text:
            words = node.text.strip()
            if words:
                size += len(words)
                if size < 4000:
                    pieces.append(words)
        if node.tail and node.getparent() not in skipped and node is not body:
            words = node.tail.strip()
            if words:
                size += len(words)
                if size < 4000:
                    pieces.append(words)
    return " ".join(pieces), size


def _asks_to_sign_in(tree: Any, title: str, parts: tuple[Part, ...]) -> bool:
    """Whether a short page is a form for a name and a password, and says so at its top."""
    tops = [title, *(part.text for part in parts[:1])]
    return any(map(_SIGN_IN.search, tops)) and any(
        (field.get("type") or "").lower() == "password" for field in tree.iter("input")
    )


def long_enough(parts: tuple[Part, ...]) -> bool:
    """Do the parts stand on their own as an article, so that there is nothing to judge?"""
    return sum(len(part.text) for part in parts if part.kind is not BlockKind.HEADING) >= SHORT


def _framed(tree: Any, empty: bool, url: str) -> str:
    """The address of the page that a page of frames shows; the last one, for menus and banners come first."""
    within = [frame for frame in tree.iter("frame") if frame.get("src")]
    if not within and empty:
        within = [frame for frame in tree.iter("iframe") if frame.get("src") not in (None, "", "about:blank")]
    return join(url, within[-1].get("src")) if within else ""


def _few_words(text: str) -> bool:
    """Whether a text says next to nothing; a character of the scripts without blanks counts twice."""
    return letters(text) + len(_SPACELESS.findall(text)) < 20


def judge(tree: Any, parts: tuple[Part, ...], url: str = "") -> Wall | None:
    """The wall a parsed page stands behind, or None when the parts found on it are an article.

    Only for parts not `long_enough`. The tree is not changed, and is searched only for very little text.
    """
    prose = [part.text for part in parts if part.kind is not BlockKind.HEADING]
    text = "\n".join(prose)
    size = len(text)
    wordless = _few_words(text) and not any(part.kind in (BlockKind.TABLE, BlockKind.CODE) for part in parts)
    page = _look(tree) if size < VERY_SHORT or wordless else PageFacts(_not_free(tree))
    if (page.not_free and size < SHORT) or (
        size < SHORT and _WALL.search(text + "\n" + page.text[-1500:] if size < VERY_SHORT else text)
    ):
        return Wall(
            Outcome.PAYWALLED,
            "only a teaser is shown; the article is for subscribers",
            "Save the page from a browser in which you are signed in (for example with Obsidian Web Clipper).",
        )
    if size < VERY_SHORT:
        blocked = page.captcha or _CHECK.search(text) or _CHECK.search(page.text)
        if blocked:
            return Wall(
                Outcome.NEEDS_BROWSER,
                "the site shows a check for robots in place of the page",
                "Open it in a browser and save the page (for example with Obsidian Web Clipper).",
            )
        empty = size < LITTLE or text in page.noscript
        if _SCRIPT.search(text) or (empty and (_SCRIPT.search(page.noscript) or page.shell)):
            return Wall(
                Outcome.NEEDS_BROWSER,
                "the page builds its text with scripts; without a browser it is empty",
                "Open it in a browser and save the page (for example with Obsidian Web Clipper).",
            )
    if size < VERY_SHORT and _asks_to_sign_in(tree, page.title, parts):
        return Wall(
            Outcome.PAYWALLED,
            "the site asks its readers to sign in",
            "Save the page from a browser in which you are signed in (for example with Obsidian Web Clipper).",
        )
    framed = _framed(tree, wordless and not page.scripts, url) if size < VERY_SHORT else ""
    if framed:
        return Wall(
            Outcome.NO_CONTENT, "the page is no more than a frame around another one", f"List {framed} instead."
        )
    rest = "\n".join(part for part in prose if not _COOKIE.search(part))
    if size < SHORT and len(rest) < 120 and len(_COOKIE.findall(text)) >= 1 and len(rest) < size / 2:
        return Wall(
            Outcome.NO_CONTENT,
            "only a notice about cookies or privacy was found",
            "Open it in a browser and save the page (for example with Obsidian Web Clipper).",
        )
    tops = (page.title, text, *(part.text for part in parts[:1]))
    if size < VERY_SHORT and any(map(_NOT_FOUND.search, tops)):
        return Wall(Outcome.NO_CONTENT, "the page says that nothing is there", _CHECK_IT)
    if size < VERY_SHORT:
        for words, outcome, reason, next_step in _NOTICES:
            if any(map(words.search, tops)):
                return Wall(outcome, reason, next_step)
    if wordless:
        if page.scripts and page.body_characters < 100:
            return Wall(
                Outcome.NEEDS_BROWSER,
                "the page builds its text with scripts; without a browser it is empty",
                "Open it in a browser and save the page (for example with Obsidian Web Clipper).",
            )
        return Wall(
            Outcome.NO_CONTENT,
            "the page holds no article text",
            "Check the page; if it has text in a browser, save it from there.",
        )
    return None
