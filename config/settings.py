"""The settings of one wiki: `nightwiki.yaml` as a typed, frozen model.

Each key has a default and a sentence (`Field(description=...)`); `nightwiki init` writes both into the file.
An unknown key or a wrong value is refused by `config.load`, with its line and the nearest right name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

Level = Literal["high", "medium", "low"]


class Section(BaseModel):
    """A group of keys: frozen, and closed against unknown ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Pages(Section):
    dir: str = Field(
        "wiki", description="Folder of the pages, read with its sub-folders; '.' is the whole vault."
    )
    file_name: Literal["slug", "title"] = Field("slug", description="Name page files by slug or by title.")
    candidates: str = Field(
        "", description="Folder of pages that wait for review; empty means `candidates` in the pages folder."
    )
    evidence: str = Field("evidence", description="Folder of the readable copies of sources.")


class Adopt(Section):
    """Notes that were in the vault before; first match wins, in the order ignored, sources, pages."""

    pages: tuple[str, ...] = Field(
        (), description="Globs of your own notes that are searched and linked to, never written."
    )
    sources: tuple[str, ...] = Field((), description="Globs of your own notes that are compiled as sources.")
    ignored: tuple[str, ...] = Field((), description="Globs of notes that nightwiki does not look at.")


class Sources(Section):
    dir: str = Field(
        "raw_sources", description="Drop files here; nightwiki reads them and never changes them."
    )
    list: str = Field("raw_sources/sources.yaml", description="A list of links, videos and feeds.")
    inbox: str = Field("raw_sources/inbox.md", description="A note into which you paste links.")
    clips: tuple[str, ...] = Field(("Clippings",), description="Folders of Obsidian Web Clipper notes.")
    ignore: tuple[str, ...] = Field((), description="Globs of files in the sources folder to leave out.")
    settle_seconds: float = Field(
        2.0, ge=0, description="A file is read once its size and time have stood still this long."
    )
    max_megabytes: float = Field(200, gt=0, description="Larger files are refused.")


class Fetch(Section):
    user_agent: str = Field(
        "nightwiki/0.1 (personal wiki; respects robots.txt)",
        description="How nightwiki names itself to servers.",
    )
    timeout_seconds: float = Field(30, gt=0, description="Limit for one request, redirects included.")
    max_megabytes: float = Field(30, gt=0, description="Larger answers are refused.")
    max_redirects: int = Field(5, ge=0, description="Redirects followed for one address.")
    retries: int = Field(2, ge=0, description="Further tries after a passing failure, with growing pauses.")
    host_pause_seconds: float = Field(1.0, ge=0, description="Pause between two requests to one host.")
    robots: bool = Field(True, description="Obey robots.txt.")
    allow_private: tuple[str, ...] = Field(
        (), description="Hosts or networks (CIDR) on private addresses that may be fetched."
    )
    proxy: str = Field(
        "", description="Address of a web proxy; `environment` takes HTTP_PROXY and its like; empty: none."
    )
    feed_items: int = Field(20, ge=1, description="Newest entries taken from one feed in one night.")


class Extract(Section):
    timeout_seconds: float = Field(120, gt=0, description="Limit for reading one source.")
    memory_megabytes: int = Field(2048, ge=128, description="Memory limit of the reading process.")
    workers: int = Field(0, ge=0, description="Reading processes; 0 means one a core.")
    languages: tuple[str, ...] = Field(
        ("en",), description="Preferred languages of video transcripts, best first."
    )


class Chunks(Section):
    size: int = Field(500, ge=50, description="Characters of a window over text without structure.")
    overlap: int = Field(80, ge=0, description="Characters that neighbouring windows share.")


class Compile(Section):
    compiler: Literal["auto", "extractive", "model"] = Field(
        "auto",
        description="How pages are written: extractive quotes and needs no model; auto uses the model when one is set.",
    )
    sentences: int = Field(30, ge=3, description="Most sentences one source adds to a page.")
    longest: int = Field(
        2_000_000, ge=1000, description="Characters of one source that a model reads; a page says what was left out."
    )
    fallback: Literal["none", "extractive"] = Field(
        "none", description="What becomes of a source that the model fails on: it waits, or it is quoted meanwhile."
    )


class Roles(Section):
    """A model for one kind of question; empty: the one of `model`."""

    analyse: str = Field("", description="Reads a source: its subjects and claims.")
    decide: str = Field("", description="Decides what a source does to which page, and names categories of the index.")
    write: str = Field("", description="Writes blocks.")
    cite: str = Field("", description="Finds the words that a sentence relies on.")
    route: str = Field("", description="Chooses the branches that a question belongs to.")
    answer: str = Field("", description="Answers questions.")


class Endpoint(Section):
    """How the model is reached. The key stands in the environment or the keyring, never here."""

    base_url: str = Field(
        "", description="Address of the openai-compatible server, such as http://127.0.0.1:11434/v1."
    )
    key_variable: str = Field(
        "", description="Environment variable that holds the key of `model`; empty means its provider's usual one."
    )
    timeout_seconds: float = Field(180, gt=0, description="Limit for one reply.")
    max_output_tokens: int = Field(8000, ge=16, description="Longest reply.")
    max_reply_megabytes: float = Field(4, gt=0, description="Larger replies are cut off while they are read.")
    concurrent: int = Field(4, ge=1, le=256, description="Calls under way at once.")
    requests_per_minute: int = Field(0, ge=0, description="Calls begun in a minute; 0 means no limit.")
    tokens_per_minute: int = Field(0, ge=0, description="Tokens sent and asked for in a minute; 0 means no limit.")
    retries: int = Field(3, ge=0, le=20, description="Further tries after a passing failure, with growing pauses.")


class Budget(Section):
    """Caps, counted before each call; 0 means no cap."""

    run_tokens: int = Field(0, ge=0, description="Tokens that one run may use; 0 means no cap.")
    day_tokens: int = Field(0, ge=0, description="Tokens that one day may use, over all runs; 0 means no cap.")
    run_money: float = Field(0, ge=0, description="Dollars that one run may cost; 0 means no cap.")
    day_money: float = Field(5, ge=0, description="Dollars that one day may cost, over all runs; 0 means no cap.")
    run_minutes: float = Field(
        0, ge=0, description="Minutes after which a run asks the model nothing more; 0 means no cap."
    )
    day_minutes: float = Field(
        0, ge=0, description="Minutes a day during which the model may be asked; 0 means no cap."
    )
    ask_above: float = Field(
        0.5, ge=0, description="`ingest` asks before a night that is expected to cost more dollars than this."
    )
    prices: tuple[str, ...] = Field(
        (),
        description="Prices that replace the known ones: model, dollars per million tokens in, and out.",
    )


class Staging(Section):
    policy: Literal["off", "all", "threshold"] = Field(
        "threshold",
        description="Which pages wait for review: off (none), all, or threshold (those below min_confidence).",
    )
    min_confidence: Level = Field(
        "medium", description="Lowest confidence that is published unread under `threshold`."
    )


class Embedding(Section):
    model: str = Field("BAAI/bge-small-en-v1.5", description="Embedding model by its fastembed name.")
    path: str = Field("", description="Folder that holds the model's files, for machines without the hub.")
    batch: int = Field(8, ge=1, description="Pages embedded at once.")
    max_tokens: int = Field(256, ge=16, description="Length of text one embedding sees.")


class Search(Section):
    vector: Literal["auto", "on", "off"] = Field(
        "auto", description="Meaning search: auto (whenever a model is there), on (and complain without one), or off."
    )
    configuration: Literal["fused", "seed", "rrf", "bm25", "vector"] = Field(
        "fused", description="How the two rankings are joined."
    )
    hits: int = Field(10, ge=1, le=200, description="Hits shown when -k is not given.")
    routing: Literal["off", "auto", "model"] = Field(
        "off",
        description="Search the whole wiki (off), or the branches of ROUTING.md that a question clearly belongs to: "
        "by its keywords (auto), or as the language model says (model).",
    )


class Snapshots(Section):
    keep_days: int = Field(30, ge=0, description="Days that old snapshots, and with them undo, are kept.")


class Digest(Section):
    note: str = Field(
        "",
        description="Path of a note that keeps the latest digest, for reading in Obsidian; empty means none.",
    )


class Prefect(Section):
    mode: Literal["own", "existing", "none"] = Field(
        "own", description="Run nightwiki's own Prefect server, use yours, or none at all."
    )
    api_url: str = Field("", description="Address of your server, for mode `existing`.")
    port: int = Field(4200, ge=1, le=65535, description="Port of the own server.")
    keep_days: int = Field(90, ge=1, description="Days that the own server keeps its history of runs.")
    show_page_text: bool = Field(
        False, description="Let page text into the artifacts of a server that is not nightwiki's own."
    )


ScheduledFlow = Literal["nightly", "weekly", "ingest", "lint", "scaffold", "routing-clean"]
SCHEDULED_FLOWS: tuple[str, ...] = get_args(ScheduledFlow)


class Timed(Section):
    """One entry of the schedule: its name, and when which flow runs."""

    name: str = Field("", description="The entry's name; its key in the file.")
    flow: ScheduledFlow = Field("nightly", description="What runs; one of the names of flows.")
    cron: str = Field("", description="Minute, hour, day of month, month, weekday; empty means never.")
    time_zone: str = Field("", description="IANA name of its time zone; empty means the wiki's.")


class Schedule(Section):
    """When flows run. Each key is an entry: a cron line, or `flow`, `cron` and `time_zone` below the entry's name."""

    nightly: str = Field("0 2 * * *", description="Cron of the night; empty means never.")
    weekly: str = Field("0 3 * * 0", description="Cron of the weekly tidying; empty means never.")
    named: tuple[Timed, ...] = Field((), description="Further entries, each under a name of its own.")

    @model_validator(mode="before")
    @classmethod
    def _gather_named(cls, values: object) -> object:
        """Entries that stand under names of their own become `named`."""
        if not isinstance(values, dict):
            return values
        gathered = {key: value for key, value in values.items() if key == "named" and isinstance(value, list | tuple)}
        named = list(gathered.get("named", ()))
        for key, value in values.items():
            if key in gathered:
                continue
            if isinstance(value, Mapping):
                flow = {} if "flow" in value or key not in SCHEDULED_FLOWS else {"flow": key}
                named.append({"name": key, **flow, **value})
            elif key in ("nightly", "weekly"):
                gathered[key] = value
            else:
                named.append({"name": key, "flow": key, "cron": value})
        return gathered | {"named": named}

    @property
    def entries(self) -> tuple[Timed, ...]:
        """All entries: nightly and weekly first, also when they are off; an entry of their name takes their place."""
        own = {entry.name: entry for entry in self.named}
        first = (
            Timed(name="nightly", flow="nightly", cron=self.nightly),
            Timed(name="weekly", flow="weekly", cron=self.weekly),
        )
        rest = tuple(entry for entry in self.named if entry.name not in ("nightly", "weekly"))
        return (*(own.get(entry.name, entry) for entry in first), *rest)


class Night(Section):
    max_minutes: float = Field(
        0, ge=0, description="A night that lasts longer stops at a safe point, and the next goes on; 0 means no limit."
    )


class Git(Section):
    commit: bool = Field(False, description="After each run, commit exactly its files to the vault's Git repository.")


class Settings(Section):
    """The whole of `nightwiki.yaml`."""

    version: Literal[1] = Field(1, description="Version of this file's form.")
    name: str = Field("wiki", min_length=1, description="The wiki's name, as shown in Prefect and to agents.")
    time_zone: str = Field("UTC", description="IANA name of the time zone of schedules and dates.")
    state_dir: str = Field(
        ".nightwiki",
        description="Folder of nightwiki's own state; move it out of a synced folder if you like.",
    )
    pages: Pages = Field(default_factory=Pages, description="Where pages live.")
    adopt: Adopt = Field(default_factory=Adopt, description="Which of your own notes take part.")
    sources: Sources = Field(default_factory=Sources, description="Where sources come from.")
    fetch: Fetch = Field(default_factory=Fetch, description="How web addresses are read.")
    extract: Extract = Field(default_factory=Extract, description="How text is taken out of sources.")
    chunks: Chunks = Field(default_factory=Chunks, description="How evidence is cut for search.")
    compile: Compile = Field(default_factory=Compile, description="How pages are written.")
    model: str = Field(
        "",
        description="Language model: anthropic:NAME, openai:NAME, google:NAME, openai-compatible:NAME (with"
        " endpoint.base_url), claude or opencode (a program you are logged in to); empty means none.",
    )
    roles: Roles = Field(default_factory=Roles, description="Other models for single kinds of question.")
    endpoint: Endpoint = Field(default_factory=Endpoint, description="How the language model is reached.")
    budget: Budget = Field(default_factory=Budget, description="What the language model may cost.")
    staging: Staging = Field(default_factory=Staging, description="What waits for review.")
    embedding: Embedding = Field(default_factory=Embedding, description="The model of meaning search.")
    search: Search = Field(default_factory=Search, description="How questions are answered.")
    snapshots: Snapshots = Field(default_factory=Snapshots, description="How long the past is kept.")
    digest: Digest = Field(default_factory=Digest, description="Where the night reports.")
    prefect: Prefect = Field(default_factory=Prefect, description="Prefect's place.")
    schedule: Schedule = Field(default_factory=Schedule, description="When things run.")
    night: Night = Field(default_factory=Night, description="How long a night may take.")
    git: Git = Field(default_factory=Git, description="A history in Git.")
