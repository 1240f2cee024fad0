"""What a model may reply, step by step: closed forms of words and numbers, with no place for a tool or a file."""

from __future__ import annotations

from typing import Any, Literal, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo

_REMARKS = frozenset({"reason", "scope_reason", "doubt", "kind", "type", "aliases", "tags"})
"""What may be cut at its greatest length: a wordy remark is no reason to ask for the whole reply again."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, told: object) -> object:
        """Null for what may be left out, one thing where a list is wanted, capital letters: none says another thing."""
        if not isinstance(told, dict):
            return told
        meant = dict(told)
        for name, field in cls.model_fields.items():
            if name in meant:
                if meant[name] is None and not field.is_required():
                    del meant[name]
                else:
                    meant[name] = _meant(name, field, meant[name])
        return meant


class SubjectFound(_Reply):
    title: str = Field(max_length=200, description="Name of the subject, in the source's language.")
    aliases: list[str] = Field(default_factory=list, max_length=12, description="Other names the source gives it.")
    kind: str = Field("topic", max_length=40, description="person, place, device, concept, event, work, topic …")


class ClaimFound(_Reply):
    subject: str = Field(max_length=200, description="Title of one of the subjects.")
    passage: str = Field(max_length=20, description="Number of the passage, such as c12.")
    words: str = Field(max_length=1500, description="The words of the passage that state it, copied letter by letter.")


class Analysed(_Reply):
    """What a stretch of a source is about and claims."""

    type: str = Field("note", max_length=40, description="article, paper, statute, manual, minutes, transcript, note …")
    subjects: list[SubjectFound] = Field(max_length=60)
    claims: list[ClaimFound] = Field(max_length=400)


class PageDecision(_Reply):
    subject: str = Field(max_length=200, description="Title of the subject, as listed.")
    action: Literal["create", "update", "skip", "flag", "contradiction"]
    page: str = Field("", max_length=20, description="Number of the page it goes onto, such as p3; empty for create.")
    title: str = Field("", max_length=200, description="Title of a new page.")
    aliases: list[str] = Field(default_factory=list, max_length=12)
    type: str = Field("", max_length=40)
    tags: list[str] = Field(default_factory=list, max_length=8)
    reason: str = Field("", max_length=500)
    doubt: str = Field("", max_length=500, description="What makes you unsure, or empty.")


class Decided(_Reply):
    """What a source does to which page."""

    in_scope: bool = True
    scope_reason: str = Field("", max_length=500)
    decisions: list[PageDecision] = Field(max_length=80)


class Cite(_Reply):
    passage: str = Field(max_length=20, description="Number of the passage, such as c12.")
    words: str = Field(max_length=1500, description="The words relied on, copied letter by letter.")


class WrittenSentence(_Reply):
    text: str = Field(max_length=1500, description="One sentence of plain text.")
    cites: list[Cite] = Field(default_factory=list, max_length=6)


class Operation(_Reply):
    """One change of the page."""

    op: Literal["add", "replace", "supersede", "retire"]
    block: str = Field("", max_length=20, description="Number of the block or sentence concerned: b3 or b3.2.")
    section: str = Field("", max_length=120, description="Heading it stands under; empty for the opening paragraph.")
    kind: Literal["paragraph", "list"] = "paragraph"
    sentences: list[WrittenSentence] = Field(default_factory=list, max_length=40)
    reason: str = Field("", max_length=300)


class ClashFound(_Reply):
    """Two statements that cannot both be right."""

    sentence: str = Field(max_length=20, description="Number of the sentence on the page, such as b3.2.")
    passage: str = Field(max_length=20, description="Number of the passage that contradicts it.")
    words: str = Field(max_length=1500, description="The contradicting words, copied letter by letter.")
    about: str = Field("", max_length=300, description="What both speak of.")
    scope_on_page: str = Field("", max_length=200, description="What exactly the page's sentence is about.")
    scope_in_source: str = Field("", max_length=200, description="What exactly the source's words are about.")
    date_on_page: str = Field("", max_length=60, description="The time for which the page's sentence holds, if said.")
    date_in_source: str = Field("", max_length=60, description="The time for which the source's words hold, if said.")
    reason: str = Field("", max_length=500)


class Written(_Reply):
    """What a source changes on a page."""

    operations: list[Operation] = Field(max_length=120)
    contradictions: list[ClashFound] = Field(default_factory=list, max_length=20)
    doubt: str = Field("", max_length=500)


class CitedSentence(_Reply):
    number: int = Field(ge=1, description="Number of the sentence.")
    cites: list[Cite] = Field(default_factory=list, max_length=6, description="Empty when no passage says it.")


class CitedAll(_Reply):
    sentences: list[CitedSentence] = Field(max_length=60)


class Cuts(_Reply):
    """Where the topic changes."""

    cuts: list[int] = Field(max_length=400, description="Numbers of the passages with which a new topic begins.")


def _meant(name: str, field: FieldInfo, value: Any) -> Any:
    kind = get_origin(field.annotation)
    if kind is list and isinstance(value, str | dict):
        value = [value]
    elif kind is Literal and isinstance(value, str):
        value = value.strip().lower()
    most = next((one.max_length for one in field.metadata if hasattr(one, "max_length")), None)
    return value[:most] if most and name in _REMARKS and isinstance(value, str | list) else value
