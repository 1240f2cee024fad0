"""robots.txt as RFC 9309 has it: absent means allowed, unreachable means not now, and a rule is obeyed.

Rules are parsed and matched by protego; one copy per origin is kept for the length of a run.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from protego import Protego

from tasks.fetching.transport import Answer, FetchError
from tasks.records import Outcome

ROBOTS_BYTES = 500 * 1024
"""RFC 9309, 2.5: at least this much is to be read; the rest is left."""

_VERSION = re.compile(r"^(\s*user-agent\s*:\s*[A-Za-z_-]+)/[^\s#]*", re.IGNORECASE)
_MAX_STARS = 4  # a pattern with more serves no site, and costs the matcher dearly
_MAX_DELAY = 30.0  # longer crawl delays would let one host hold up a night


@dataclass(frozen=True, slots=True)
class _Origin:
    rules: Protego | None  # None: everything is allowed
    problem: FetchError | None = None


class Robots:
    """The rules of all origins met in a run; `get` fetches a robots.txt with its redirects or raises
    FetchError.
    """

    def __init__(self, get: Callable[[str], Answer], user_agent: str) -> None:
        self._get = get
        self._agent = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0] or "nightwiki"
        self._origins: dict[str, _Origin] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def check(self, url: str) -> float:
        """Seconds the host wants between requests (0: it says nothing); raises FetchError refused or
        blocked.
        """
        origin = self._origin(url)
        if origin.problem is not None:
            problem = origin.problem
            raise FetchError(url, problem.outcome, problem.cause, problem.next_step, host_down=problem.host_down)
        if origin.rules is None:
            return 0.0
        if not origin.rules.can_fetch(url, self._agent):
            raise FetchError(
                url,
                Outcome.REFUSED,
                "the site's robots.txt asks programs not to read this page",
                "Save the page with your browser into the sources folder.",
            )
        return min(float(origin.rules.crawl_delay(self._agent) or 0.0), _MAX_DELAY)

    def _origin(self, url: str) -> _Origin:
        parts = urlsplit(url)
        key = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._origins:
                self._origins[key] = self._load(f"{key}/robots.txt")
            return self._origins[key]

    def _load(self, address: str) -> _Origin:
        answer = self._get(address)
        if answer.status == 200:
            return _Origin(Protego.parse(_harmless(answer.body.decode("utf-8-sig", "replace"))))
        if answer.status >= 500 or answer.status == 429:
            cause = f"robots.txt answered {answer.status}, and until it is back nothing may be read"
            step = "It is tried again in a later night."
            return _Origin(None, FetchError(address, Outcome.BLOCKED, cause, step, host_down=True))
        return _Origin(None)


def _harmless(text: str) -> str:
    """The rules without NUL and without patterns that only exist to slow a matcher down.

    A rule with too many stars is cut at one of them: it then forbids more, never less. A version behind a program's
    name means nothing, as for the search engines.
    """
    kept = []
    for line in text.replace("\0", "").splitlines():
        if line.count("*") > _MAX_STARS or len(line) > 2048:
            if not line.strip().lower().startswith("disallow"):
                continue
            line = "*".join(line[:2048].split("*")[:_MAX_STARS]) + "*"
        kept.append(_VERSION.sub(r"\1", line))
    return "\n".join(kept)
