"""The last good settings: in force while the settings file is broken and `nightwiki up` runs.

`up` keeps a copy of each version that it could read, and names its place to the runs it starts.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from config.errors import SettingsError, WikiNotFoundError
from config.load import load_settings
from config.wiki import Wiki, open_wiki
from storage.durable import write_file

VARIABLE = "NIGHTWIKI_KEPT_SETTINGS"

log = logging.getLogger(__name__)


def kept_path(wiki: Wiki) -> Path:
    """Where `nightwiki up` keeps the settings that it read last."""
    return wiki.state_dir / "up-settings.yaml"


def keep(wiki: Wiki) -> None:
    """Keep a copy of the settings file; the wiki was just opened by it."""
    wiki.state_dir.mkdir(parents=True, exist_ok=True)
    write_file(kept_path(wiki), [wiki.settings_path.read_bytes()])


def open_by_kept(root: Path) -> Wiki:
    """The wiki in a folder; by its last good settings when `up` kept some and the file cannot be read now.

    Raises SettingsError or WikiNotFoundError when nothing was kept.
    """
    try:
        return open_wiki(root)
    except (SettingsError, WikiNotFoundError) as error:
        kept = os.environ.get(VARIABLE, "")
        if not kept or not root.is_dir() or not Path(kept).is_file():
            raise
        wiki = open_wiki(root, load_settings(Path(kept)))
        log.warning("%s The last good settings stay in force.", error)
        return wiki
