"""Finds a wiki and names its places: by `-w`, then NIGHTWIKI_WIKI, then upwards from the current folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.consistency import candidates_folder, tidy
from config.errors import SettingsError, WikiNotFoundError
from config.load import load_settings
from config.settings import Settings

SETTINGS_NAME = "nightwiki.yaml"
VARIABLE = "NIGHTWIKI_WIKI"


@dataclass(frozen=True, slots=True)
class Wiki:
    """One wiki: its vault, settings and vault folders (relative, forward slashes; '.' is the vault)."""

    root: Path  # the vault, absolute
    settings_path: Path
    settings: Settings
    state_dir: Path  # absolute; nothing is created here by finding it
    pages_dir: str
    candidates_dir: str
    evidence_dir: str
    sources_dir: str
    source_list: str  # a file
    inbox: str  # a file

    @property
    def name(self) -> str:
        """The wiki's name, as in its settings."""
        return self.settings.name


def open_wiki(root: Path, settings: Settings | None = None) -> Wiki:
    """The wiki in a folder; `settings` are taken instead of the file's. Raises WikiNotFoundError or SettingsError."""
    root = root.expanduser().resolve()
    settings_path = root / SETTINGS_NAME
    if settings is None and not settings_path.is_file():
        raise WikiNotFoundError(
            str(root), f"there is no {SETTINGS_NAME} here", f"Make a wiki with: nightwiki init {root}"
        )
    settings = load_settings(settings_path) if settings is None else settings
    state_dir = (root / Path(settings.state_dir).expanduser()).resolve()
    if root.is_relative_to(state_dir):
        raise SettingsError(
            str(settings_path),
            f"state_dir '{settings.state_dir}' holds the wiki itself",
            "Name a folder of its own.",
        )
    return Wiki(
        root=root,
        settings_path=settings_path,
        settings=settings,
        state_dir=state_dir,
        pages_dir=tidy(settings.pages.dir),
        candidates_dir=candidates_folder(settings),
        evidence_dir=tidy(settings.pages.evidence),
        sources_dir=tidy(settings.sources.dir),
        source_list=tidy(settings.sources.list),
        inbox=tidy(settings.sources.inbox),
    )


def find_wiki(
    option: str | Path | None = None, environ: Mapping[str, str] | None = None, start: Path | None = None
) -> Wiki:
    """The wiki a command is about. Raises WikiNotFoundError, whose next step says how to name or make one."""
    named = str(option) if option else (os.environ if environ is None else environ).get(VARIABLE, "")
    if named:
        place = Path(named).expanduser()
        place = place.parent if place.name == SETTINGS_NAME else place
        if not (place / SETTINGS_NAME).is_file():
            said = f"-w {named}" if option else f"{VARIABLE}={named}"
            raise WikiNotFoundError(
                said, f"there is no {SETTINGS_NAME} there", f"Make a wiki with: nightwiki init {named}"
            )
        return open_wiki(place)
    here = (start or Path.cwd()).resolve()
    found = enclosing(here)
    if found is None:
        raise WikiNotFoundError(
            str(here),
            "no wiki here or in a folder above",
            f"Name one with -w DIR or {VARIABLE}, or make one: nightwiki init DIR",
        )
    return open_wiki(found)


def model_cache(environ: Mapping[str, str] | None = None) -> Path:
    """Folder where embedding models are kept for all wikis of this person; never a temporary one."""
    variables = os.environ if environ is None else environ
    if named := variables.get("NIGHTWIKI_CACHE", ""):
        return Path(named).expanduser() / "models"
    cache = variables.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache else Path.home() / ".cache") / "nightwiki" / "models"


def enclosing(folder: Path) -> Path | None:
    """The nearest folder, this one or above, that holds a wiki; None when there is none."""
    return next((place for place in (folder, *folder.parents) if (place / SETTINGS_NAME).is_file()), None)
