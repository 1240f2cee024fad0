"""What must hold between settings: folders kept apart, a time zone that exists, schedules that can fire."""

from __future__ import annotations

import difflib
import ipaddress
import re
import unicodedata
import zoneinfo
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath
from urllib.parse import urlsplit

from config.cron import cron_problem
from config.models import COMPATIBLE, parse_model, parse_price
from config.settings import Settings

_ENTRY_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_FOREIGN = frozenset({".obsidian", ".git", ".trash"})


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that two settings, or a setting and the world, disagree on."""

    key: tuple[str, ...]
    cause: str
    next_step: str


def problems(settings: Settings) -> Iterator[Problem]:
    """Each contradiction in the settings, the most telling first."""
    yield from _folders(settings)
    yield from _time(settings)
    yield from _model(settings)
    if settings.chunks.overlap >= settings.chunks.size:
        yield Problem(
            ("chunks", "overlap"), "is not smaller than chunks.size", "Lower it, or raise chunks.size."
        )
    if settings.prefect.mode == "existing" and urlsplit(settings.prefect.api_url).scheme not in (
        "http",
        "https",
    ):
        yield Problem(
            ("prefect", "api_url"),
            "is needed for prefect.mode 'existing'",
            "Write it as http://host:4200/api.",
        )
    if set(settings.name) & set("/%&<>") or not settings.name.isprintable():
        yield Problem(
            ("name",), f"{settings.name!r} cannot name deployments", "Leave out / % & < > and line breaks."
        )
    for entry in settings.fetch.allow_private:
        if "/" in entry and not _is_network(entry):
            yield Problem(
                ("fetch", "allow_private"), f"'{entry}' is no network", "Write it as 192.168.1.0/24."
            )
    proxy = settings.fetch.proxy
    if proxy and proxy != "environment" and not proxy.lower().startswith(("http://", "https://")):
        yield Problem(("fetch", "proxy"), f"'{proxy}' is no web proxy", "Write it as http://host:port.")


def candidates_folder(settings: Settings) -> str:
    """The vault folder of candidates: as set, else `candidates` in the pages folder."""
    return (
        tidy(settings.pages.candidates)
        if settings.pages.candidates
        else tidy(f"{settings.pages.dir}/candidates")
    )


def tidy(folder: str) -> str:
    """A vault folder in its normal form: no leading './', no trailing slash; '.' is the vault itself."""
    return str(PurePosixPath(unicodedata.normalize("NFC", folder.strip())))


def inside(inner: str, outer: str) -> bool:
    """Whether a vault folder is the other or lies in it, on any file system (letter case does not count)."""
    low, high = (PurePosixPath(tidy(name).casefold()) for name in (inner, outer))
    return low == high or high in low.parents


def _folders(settings: Settings) -> Iterator[Problem]:
    state = settings.state_dir
    pages, sources = settings.pages, settings.sources
    named: list[tuple[tuple[str, ...], str]] = [
        (("pages", "dir"), pages.dir),
        (("pages", "candidates"), candidates_folder(settings)),
        (("pages", "evidence"), pages.evidence),
        (("sources", "dir"), sources.dir),
        (("sources", "list"), sources.list),
        (("sources", "inbox"), sources.inbox),
        *((("sources", "clips"), clip) for clip in sources.clips),
        *([(("digest", "note"), settings.digest.note)] if settings.digest.note else []),
    ]
    for key, folder in named:
        if problem := _outside(folder):
            yield Problem(key, problem, "Write it relative to the wiki's folder, with forward slashes.")
        elif tidy(folder) == "." and key != ("pages", "dir"):
            yield Problem(key, "cannot be the whole vault", "Name a folder.")
    if settings.digest.note:
        yield from _digest_note(settings)
    if not state.strip() or tidy(state) == ".":
        yield Problem(("state_dir",), "cannot be the whole vault", "Name a folder, such as .nightwiki.")
    if not _is_absolute(state):
        named.append((("state_dir",), state))
    own = {("pages", "evidence"), ("state_dir",), ("sources", "dir")}
    kept_apart = [(key, folder) for key, folder in named if key in own]
    for key, folder in kept_apart:
        for other, other_folder in named:
            within_sources = (
                key == ("sources", "dir") and other[0] == "sources"
            )  # list, inbox and clips may lie there
            if other != key and not within_sources and inside(other_folder, folder):
                yield _clash(other, other_folder, key, folder)
        if tidy(pages.dir) != "." and inside(folder, pages.dir):
            yield _clash(key, folder, ("pages", "dir"), pages.dir)
    if inside(pages.dir, candidates_folder(settings)):
        yield _clash(("pages", "candidates"), candidates_folder(settings), ("pages", "dir"), pages.dir)


def _digest_note(settings: Settings) -> Iterator[Problem]:
    """The digest goes into a note of the person's, and into no file that says something to nightwiki."""
    note, pages, candidates = tidy(settings.digest.note), settings.pages.dir, candidates_folder(settings)
    taken = ("purpose.md", "ROUTING.md", str(PurePosixPath(tidy(pages), "index.md")))
    if not note.lower().endswith(".md"):
        yield Problem(("digest", "note"), f"'{note}' is no note", "Name one that ends in .md.")
    elif note.casefold() in map(str.casefold, taken) or inside(note, candidates):
        cause = f"'{note}' is a file in which nightwiki reads or lists something else"
        yield Problem(("digest", "note"), cause, "Name a note of its own, such as Digest.md.")


def _clash(inner: tuple[str, ...], inner_folder: str, outer: tuple[str, ...], outer_folder: str) -> Problem:
    same = inside(outer_folder, inner_folder)
    where = "is the same folder as" if same else "lies inside"
    cause = f"'{inner_folder}' {where} {'.'.join(outer)} ('{outer_folder}')"
    return Problem(inner, cause, "Choose a folder of its own; what is in both would be read twice.")


def _outside(folder: str) -> str:
    parts = PurePosixPath(folder).parts
    if not folder.strip():
        return "is empty"
    if "\\" in folder or _is_absolute(folder) or ".." in parts:
        return f"'{folder}' is not a place inside the wiki"
    if any(part.casefold() in _FOREIGN for part in parts):
        return f"'{folder}' belongs to another program"
    return ""


def _is_absolute(folder: str) -> bool:
    return PurePath(folder).is_absolute() or folder.startswith("~") or folder[1:3] in (":\\", ":/")


def _time(settings: Settings) -> Iterator[Problem]:
    if hint := _zone_problem(settings.time_zone):
        yield Problem(("time_zone",), f"'{settings.time_zone}' is not a time zone", hint)
    for entry in settings.schedule.entries:
        key = ("schedule", entry.name)
        if not _ENTRY_NAME.fullmatch(entry.name):
            step = "Use lower-case letters, digits and dashes."
            yield Problem(key, f"'{entry.name}' cannot name an entry", step)
        if entry.cron and (problem := cron_problem(entry.cron)):
            short = entry.flow == entry.name and not entry.time_zone  # perhaps one line
            yield Problem(key if short else (*key, "cron"), problem, "Two in the morning, every day, is '0 2 * * *'.")
        if entry.time_zone and (hint := _zone_problem(entry.time_zone)):
            yield Problem((*key, "time_zone"), f"'{entry.time_zone}' is not a time zone", hint)


def _model(settings: Settings) -> Iterator[Problem]:
    named: list[tuple[tuple[str, ...], str]] = [(("model",), settings.model)]
    named += [(("roles", role), str(getattr(settings.roles, role))) for role in type(settings.roles).model_fields]
    address = settings.endpoint.base_url
    for key, text in named:
        if not text:
            continue
        try:
            model = parse_model(text)
        except ValueError as error:
            yield Problem(key, f"'{text}' names no model", str(error))
            continue
        if model.provider == COMPATIBLE and not address:
            step = "Set endpoint.base_url, such as http://127.0.0.1:11434/v1."
            yield Problem(key, f"{COMPATIBLE} needs an address", step)
    if address and (urlsplit(address).scheme not in ("http", "https") or not _host(address)):
        yield Problem(("endpoint", "base_url"), f"'{address}' is no web address", "Write it as http://host:port/v1.")
    if settings.compile.compiler == "model" and not settings.model:
        yield Problem(("compile", "compiler"), "is 'model', but no model is set", "Set `model`, or say auto.")
    for line in settings.budget.prices:
        try:
            parse_price(line)
        except ValueError:
            step = "Write the model, dollars per million tokens in, and out, such as 'openai:gpt-5-mini 0.25 2'."
            yield Problem(("budget", "prices"), f"'{line}' is no price", step)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _zone_problem(name: str) -> str:
    """What to write instead of a time zone that does not exist, '' for one that does."""
    if _zone_exists(name):
        return ""
    known = {zone.casefold(): zone for zone in zoneinfo.available_timezones()}
    close = difflib.get_close_matches(name.casefold(), known, n=1, cutoff=0.5)
    return f"Did you mean '{known[close[0]]}'?" if close else "Use an IANA name, such as Europe/Berlin."


def _zone_exists(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _is_network(entry: str) -> bool:
    try:
        ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False
    return True
