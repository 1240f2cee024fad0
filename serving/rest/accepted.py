"""Which form of an answer a client would rather have, by its Accept header (RFC 9110, 12.5.1)."""

from __future__ import annotations

from collections.abc import Mapping

JSON = "application/json"


def preferred(accept: str, kind: str) -> bool:
    """Whether a client would rather have `kind` than JSON; where it takes both alike, only if it names it."""
    qualities = _qualities(accept)
    wanted, otherwise = _quality(qualities, kind), _quality(qualities, JSON)
    return wanted > 0 and (wanted > otherwise or (wanted == otherwise and kind in qualities))


def _qualities(accept: str) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for item in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in item.split(";"))
        quality = next((one[2:] for one in parameters if one.startswith("q=")), "1")
        try:
            found[kind] = min(1.0, max(0.0, float(quality)))
        except ValueError:
            found[kind] = 0.0
    return found


def _quality(qualities: Mapping[str, float], kind: str) -> float:
    """How much a kind is wanted: by its own name, else by its family's, else by that of all."""
    names = (kind, f"{kind.partition('/')[0]}/*", "*/*")
    return next((qualities[name] for name in names if name in qualities), 0.0)
