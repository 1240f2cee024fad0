"""What was written onto the pages of a PDF after they were printed: the values of a form, and notes in the margin.

Neither is part of a page's own text. Values stand as a list behind the text of their page, notes as quotations, for
they are a reader's words; both are cited by the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tasks.extraction.extracted import one_line
from tasks.records import BlockKind, Part

_UNSEEN = 0b100010  # flags of an annotation: hidden, and not shown on a screen
_PASSWORD, _BUTTON, _RADIO = 1 << 13, 1 << 16, 1 << 15  # flags of a field
_DEEPEST = 20
_MOST = 2000  # annotations of one page that are looked at
_PLAIN_NAME = re.compile(
    r"(?:text|check|radio|combo|list|drop|date|numeric|undefined|field|feld|champ|campo|button|group|form|topmost|fill|untitled)"
    r"[\s_-]*(?:box|field|feld|down|button|list)?[\s_-]*\d*(?:[\s_.-]+\d+)*",
    re.IGNORECASE,
)
_NO_WORDS = frozenset(
    {"/Link", "/Popup", "/Redact", "/Widget", "/Sound", "/Movie", "/Screen", "/PrinterMark", "/TrapNet"}
)


@dataclass(slots=True)
class Annotations:
    """What was written onto the pages, by page from 1, and what of it nobody sees; gathered page by page."""

    parts: dict[int, list[Part]] = field(default_factory=dict)
    hidden: int = 0
    hidden_text: str = ""
    _seen: set[int] = field(default_factory=set)  # fields that stand on a page several times

    def gather(self, page: Any, number: int) -> None:
        """Take in a page. What is broken costs only itself."""
        values: list[str] = []
        notes: list[str] = []
        for annotation in _annotations(page):
            try:
                kind = str(annotation.get("/Subtype", ""))
                said = list(self._value(annotation)) if kind == "/Widget" else [_note(annotation, kind)]
                unseen = int(annotation.get("/F", 0)) & _UNSEEN
            except Exception:  # strangers' objects: of any type where another one belongs
                continue
            said = [words for words in said if words]
            if said and unseen:
                self.hidden += 1
                self.hidden_text = f"{self.hidden_text} {' '.join(said)}".strip()[:20_000]
            elif kind == "/Widget":
                values += said
            else:
                notes += said
        place = f"page={number}"
        found = [Part(BlockKind.QUOTE, note, anchor=place) for note in dict.fromkeys(notes)]
        if values:
            found.insert(0, Part(BlockKind.LIST, "\n".join(f"- {value}" for value in values), anchor=place))
        if found:
            self.parts[number] = found

    def _value(self, widget: Any) -> Iterator[str]:
        """`Name: value` of the field that a widget shows, once for each field."""
        chain = list(_chain(widget))
        holder = next((one for one in chain if "/V" in one), None)
        flags = next((int(one["/Ff"]) for one in chain if "/Ff" in one), 0)
        kind = next((str(one["/FT"]) for one in chain if "/FT" in one), "")
        silent = {"/Btn": _BUTTON, "/Tx": _PASSWORD}.get(kind, 0)
        if holder is None or kind == "/Sig" or flags & silent:
            return
        reference = getattr(holder, "indirect_reference", None)
        identity = reference.idnum if reference is not None else id(holder)
        if identity in self._seen:
            return
        self._seen.add(identity)
        value, name = _shown(holder["/V"].get_object(), chain), _name(chain)
        if kind == "/Btn":
            if value in ("", "Off"):
                return
            value = value if flags & _RADIO else name and "☑"
        if value:
            yield f"{name}: {value}" if name else value


def _annotations(page: Any) -> Iterator[Any]:
    try:
        listed = page.get("/Annots")
        entries = list(listed.get_object() or ())[:_MOST] if listed is not None else []
    except Exception:  # as above
        return
    for entry in entries:
        try:
            annotation = entry.get_object()
            if hasattr(annotation, "get"):
                yield annotation
        except Exception:  # as above
            continue


def _chain(widget: Any) -> Iterator[Any]:
    """A widget and the fields around it, from which it inherits."""
    one = widget
    for _ in range(_DEEPEST):
        yield one
        if "/Parent" not in one:
            return
        one = one["/Parent"].get_object()


def _name(chain: list[Any]) -> str:
    """What a field is called for people, else its own name if that says something."""
    told = next((one_line(str(one["/TU"])) for one in chain if "/TU" in one), "")
    own = next((one_line(str(one["/T"])) for one in chain if "/T" in one), "")
    own = re.sub(r"\[\d+\]$", "", own.rpartition(".")[2])
    own = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", own.replace("_", " "))
    return (told or ("" if _PLAIN_NAME.fullmatch(own) else own)).rstrip(" :")


def _shown(value: Any, chain: list[Any]) -> str:
    """A field's value as a person reads it: of a choice the words that stand for what is stored."""
    values = [one.get_object() for one in value] if isinstance(value, list) else [value]
    options = next((one["/Opt"].get_object() for one in chain if "/Opt" in one), ())
    pairs = (option.get_object() for option in options)
    words = {str(pair[0]): str(pair[1]) for pair in pairs if isinstance(pair, list) and len(pair) > 1}
    plain = (one.get_data().decode("utf-8", "replace") if hasattr(one, "get_data") else str(one) for one in values)
    return one_line(", ".join(words.get(one, one).removeprefix("/") for one in plain))


def _note(annotation: Any, kind: str) -> str:
    """The words of a note, its lines kept; '' of a link and the like."""
    contents = annotation.get("/Contents")
    if kind in _NO_WORDS or contents is None:
        return ""
    lines = str(contents.get_object()).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line for raw in lines if (line := one_line(raw)))
