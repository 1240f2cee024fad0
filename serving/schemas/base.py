"""What all answers share: the version of their form, and the parts that many of them hold."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Final = 1


class Answer(BaseModel):
    """What one command prints."""

    model_config = ConfigDict(extra="forbid")
    schema_version: Literal[1] = Field(SCHEMA_VERSION, description="Version of this answer's form.")


class Item(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid")


class Degraded(Item):
    what: str = Field(description="What does not work as it should, such as `embeddings`.")
    reason: str
    next_step: str


class Cited(Item):
    source: str = Field(description="Id of the source.")
    location: str = Field(description="Vault path or address of the source.")
    place: str = Field(description="Where in it: `page=3`, `^p7` or a heading.")
    quote: str = Field(description="The words relied on.")
