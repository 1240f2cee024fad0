"""Knows a provider's key when it sees one, so that none stays in a file of the wiki and none is ever shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHOWN = "[key]"
"""What is shown in a key's place."""

_KEY = re.compile(
    r"""(?<![A-Za-z0-9])(?:
        sk-[A-Za-z0-9_-]{16,}              # OpenAI, Anthropic, OpenRouter and many that follow them
      | AIza[A-Za-z0-9_-]{30,}             # Google
      | AQ\.[A-Za-z0-9_-]{30,}             # Google, newer
      | (?:gsk|xai|hf|r8|pplx|fw)[_-][A-Za-z0-9]{20,}
      | gh[pousr]_[A-Za-z0-9]{30,}         # GitHub, whose models answer too
    )""",
    re.VERBOSE,
)
_BEARER = re.compile(
    r"(?i)(\b(?:bearer|basic|x-api-key|x-goog-api-key|api[_-]?key|authorization)\b[\"']?\s*[:=]?\s*[\"']?"
    r"(?:bearer\s+)?)([A-Za-z0-9._~+/=-]{12,})"
)
_IN_ADDRESS = re.compile(r"(?i)(://)[^/\s:@]+:[^/\s@]+@|([?&](?:api[_-]?key|key|token)=)[^&\s\"']+")
_SHORTEST = 6  # of a known key: shorter ones would blot out ordinary words


def holds_key(text: str) -> bool:
    """Whether a text holds something that has the shape of a key, or an address with a password."""
    return bool(_KEY.search(text) or _IN_ADDRESS.search(text))


def redact(text: str, keys: Iterable[str] = ()) -> str:
    """The text without these keys, and without whatever else looks like one."""
    for key in sorted(keys, key=len, reverse=True):
        if len(key) >= _SHORTEST:
            text = text.replace(key, SHOWN)
    text = _KEY.sub(SHOWN, text)
    text = _BEARER.sub(rf"\g<1>{SHOWN}", text)
    return _IN_ADDRESS.sub(lambda found: f"{found[1] or found[2]}{SHOWN}{'@' if found[1] else ''}", text)
