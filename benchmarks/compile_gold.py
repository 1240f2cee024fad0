"""The conformance set of the compiler as records: sources, facts, pages as they might be, pairs, and inventions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

_UNSPACED_END = re.compile("(?<=[\u3005-\u30ff\u3400-\u9fff])\\n(?=[\u3005-\u30ff\u3400-\u9fff])")
FOLDER = Path(__file__).parent / "compile_set"


@dataclass(frozen=True, slots=True)
class GoldLine:
    """A sentence that a careful model would write, and the words it relies on."""

    section: str
    say: str
    words: str


@dataclass(frozen=True, slots=True)
class GoldSource:
    """One source; `facts` are the keys that one sentence of a page must hold together."""

    name: str
    night: str  # first | second
    title: str
    subject: str
    aliases: tuple[str, ...]
    kind: str
    tags: tuple[str, ...]
    held: bool  # its page waits for a person, whatever it says
    outside: str  # why it does not belong, for the purpose of the set
    facts: tuple[tuple[str, ...], ...]
    text: tuple[GoldLine, ...]
    source: str  # its Markdown

    @property
    def flat(self) -> str:
        """Its words on one line, without marks of code; no blank stands where a line of Chinese or Japanese ends."""
        return " ".join(_UNSPACED_END.sub("", self.source.replace("`", "")).split())


@dataclass(frozen=True, slots=True)
class GoldPair:
    """Two sentences of two sources that clash, or only seem to."""

    real: bool
    old: str
    says: str
    new: str
    words: str
    about: tuple[str, str]
    dates: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Gold:
    """The whole set."""

    sources: tuple[GoldSource, ...]
    pairs: tuple[GoldPair, ...]
    forbidden: tuple[str, ...]
    outside: tuple[str, ...]
    purpose: str


def load(folder: Path = FOLDER) -> Gold:
    """The set from its folder."""
    data = yaml.safe_load((folder / "set.yaml").read_text(encoding="utf-8"))
    sources = []
    for name, one in data["sources"].items():
        night = next(night for night in ("first", "second") if (folder / night / f"{name}.md").exists())
        source = (folder / night / f"{name}.md").read_text(encoding="utf-8")
        sources.append(
            GoldSource(
                name,
                night,
                one.get("own_title", one["subject"]),
                one["subject"],
                tuple(one.get("aliases", ())),
                one["kind"],
                tuple(one.get("tags", ())),
                bool(one.get("held", False)),
                one.get("outside", ""),
                tuple(tuple(str(key) for key in keys) for keys in one["facts"]),
                tuple(GoldLine(*line) for line in one["text"]),
                source,
            )
        )
    pairs = tuple(
        GoldPair(
            one["real"],
            one["old"],
            one["says"],
            one["new"],
            one["words"],
            tuple(one.get("about", ("", ""))),
            tuple(one.get("dates", ("", ""))),
        )
        for one in data["pairs"]
    )
    purpose = (folder / "purpose.md").read_text(encoding="utf-8")
    return Gold(tuple(sources), pairs, tuple(data["forbidden"]), tuple(data["outside"]), purpose)
