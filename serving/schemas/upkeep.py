"""The JSON of the commands that make, check and keep a wiki: init, lint, check, scaffold, schedule, backup, …"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from serving.schemas.base import Answer, Item


class FindingItem(Item):
    check: str
    severity: str
    page: str
    line: int
    message: str
    fix: str


class CheckAnswer(Answer):
    findings: list[FindingItem]


class LintAnswer(Answer):
    findings: list[FindingItem] = Field(description="What is wrong now, errors first.")
    fixed: list[FindingItem] = Field(description="What --fix put right, or would with --dry-run.")
    run: str = Field(description="Id of the run that --fix was; empty otherwise.")
    changed: list[str] = Field(description="Vault paths written; none with --dry-run.")


class CategoryItem(Item):
    name: str
    pages: int = Field(description="Number of pages in it.")


class ScaffoldAnswer(Answer):
    run: str = Field(description="Id of the run; empty for a dry run.")
    index: str = Field(description="Vault path of the index.")
    categories: list[CategoryItem]
    changed: list[str] = Field(description="Vault paths written, or that a dry run would write.")
    left: str = Field(description="Why the index was left alone; empty otherwise.")
    note: str = Field(description="Why a model that is set had no say in new categories; empty otherwise.")


class RoutingAnswer(Answer):
    run: str = Field(description="Id of the run; empty for a dry run.")
    branches: list[CategoryItem] = Field(description="Branches of a table that was made.")
    removed: list[str] = Field(description="Link targets of the entries that went.")
    renamed: list[str] = Field(default=[], description="Former targets of entries whose page is called otherwise now.")
    changed: list[str] = Field(description="Vault paths written, or that a dry run would write.")
    left: str = Field(description="Why nothing was done; empty otherwise.")


class ScheduleItem(Item):
    name: str
    flow: str
    cron: str = Field(description="Empty: it is off.")
    time_zone: str
    next_run: str = Field(description="Empty when it is off or paused.")
    last_run: str
    last_state: str = Field(description="How the last run ended or stands, in Prefect's words.")
    last_good_run: str
    paused: bool | None = Field(None, description="Whether it is paused in Prefect's console; absent: no server is up.")
    served: bool = Field(description="Whether the server that is up knows this entry.")


class ScheduleAnswer(Answer):
    schedules: list[ScheduleItem]


class ScheduleEditAnswer(Answer):
    changed: bool
    schedules: list[str] = Field(description="Names of all entries that are on afterwards.")


class DeploymentItem(Item):
    deployment: str
    change: Literal["created", "updated", "unchanged", "deleted"]


class ScheduleApplyAnswer(Answer):
    deployments: list[DeploymentItem]


class BackupAnswer(Answer):
    file: str = Field(description="The archive.")
    root: str = Field(description="The wiki's folder.")
    files: int
    bytes: int = Field(description="Of the files, not compressed.")
    size: int = Field(description="Of the archive; 0 for a dry run of backup.")
    snapshot: str


class ExportAnswer(Answer):
    kind: Literal["obsidian", "llms.txt", "llms-full.txt", "jsonl"]
    target: str
    snapshot: str
    files: list[str] = Field(description="Files written, or that a dry run would write; below the target.")
    bytes: int


class InitAnswer(Answer):
    root: str
    kind: Literal["new", "demo", "adopt"]
    notes: int = Field(description="Notes that were there before.")
    pages: list[str] = Field(description="Globs of notes that are searched and linked to.")
    ignored: list[str] = Field(description="Globs of notes left out.")
    clips: list[str] = Field(description="Folders of web clippings, compiled as sources.")
    writes: list[str] = Field(description="Files written, or that a dry run would write.")


class ModelItem(Item):
    role: Literal["analyse", "decide", "write", "cite", "route", "answer"]
    model: str = Field(description="As in the settings.")
    works: bool
    reason: str = Field(description="Why it does not work, or what is odd about its reply.")
    next_step: str
    seconds: float = Field(description="How long the reply took.")
    input_tokens: int
    output_tokens: int
    money: float = Field(description="Dollars that the question cost.")
    price_input: float | None = Field(None, description="Dollars for a million tokens sent; absent if not known.")
    price_output: float | None = Field(None, description="Dollars for a million tokens received; absent if not known.")


class ModelAnswer(Answer):
    roles: list[ModelItem]
    money: float = Field(description="Dollars that all questions cost.")
