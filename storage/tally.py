"""What the last lint with repairs found, in numbers, so that the next one, the digest and `status` tell what is new.

Only a memory of the latest state: without it everything counts as known.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from storage.durable import sha256, write_file
from tasks.records import Finding


@dataclass(frozen=True, slots=True)
class Tally:
    """Findings by severity, and how many the lint before had not."""

    at: str                      # when it was taken
    errors: int
    warnings: int
    fresh: int                   # new since the lint before
    keys: tuple[str, ...] = ()   # of all findings, to tell new ones by

    def line(self) -> str:
        """In half a sentence: '2 errors, 5 warnings, 1 of them new'."""
        total = self.errors + self.warnings
        if not total:
            return "nothing is wrong"
        told = [_many(self.errors, "error"), _many(self.warnings, "warning")]
        new = f", {self.fresh} of them new" if self.fresh else ""
        return ", ".join(part for part in told if not part.startswith("0 ")) + new


def take(findings: Sequence[Finding], before: Tally | None, at: str) -> Tally:
    """The tally of what was found, beside the one before."""
    count = Counter(one.severity for one in findings)
    keys = sorted({_key(one) for one in findings})
    known = set(before.keys) if before is not None else set(keys)
    fresh = sum(key not in known for key in keys)
    return Tally(at, count["error"], count["warning"], fresh, tuple(keys))


def load(state_dir: Path) -> Tally | None:
    """The tally that was kept, or None."""
    try:
        told = json.loads(_path(state_dir).read_bytes())
        return Tally(told["at"], told["errors"], told["warnings"], told["fresh"], tuple(told["keys"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(state_dir: Path, tally: Tally) -> None:
    """Keep a tally in place of the one before."""
    path = _path(state_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, [json.dumps(asdict(tally)).encode()])


def _path(state_dir: Path) -> Path:
    return state_dir / "lint" / "tally.json"


def _key(finding: Finding) -> str:
    told = "\x1f".join((finding.check, finding.page, finding.message))
    return sha256(told.encode("utf-8", "surrogatepass"))[:16]


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
