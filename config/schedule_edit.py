"""Adds, changes and removes entries of the schedule in a settings file, and leaves every other byte of it as it is."""

from __future__ import annotations

from config.defaults import entry_text, scalar
from config.edit import put, without
from config.errors import SettingsError
from config.load import parse_settings
from config.settings import Settings, Timed

DEFAULTS = ("nightly", "weekly")


def set_entry(text: str, entry: Timed, subject: str = "nightwiki.yaml") -> str:
    """The text with this entry in its schedule, in the place of one of the same name.

    Raises SettingsError when the text or the entry is not accepted.
    """
    before = parse_settings(text, subject)
    edited = put(text, ("schedule", entry.name), entry_text(entry), subject)
    others = [one for one in before.schedule.entries if one.name != entry.name]
    _check(before, parse_settings(edited, subject), [*others, entry], subject)
    return edited


def remove_entry(text: str, name: str, subject: str = "nightwiki.yaml") -> str:
    """The text without an entry; the nightly and the weekly one, which have a default, are switched off instead.

    Raises SettingsError when there is no such entry.
    """
    before = parse_settings(text, subject)
    known = [one.name for one in before.schedule.entries]
    if name not in known:
        raise SettingsError(subject, f"the schedule has no entry '{name}'", f"It has: {', '.join(known)}.")
    others = [one for one in before.schedule.entries if one.name != name]
    if name in DEFAULTS:
        edited = put(text, ("schedule", name), scalar(""), subject)
        others.append(Timed(name=name, flow=name, cron=""))
    else:
        edited = without(text, ("schedule", name), subject)
    _check(before, parse_settings(edited, subject), others, subject)
    return edited


def _check(before: Settings, after: Settings, entries: list[Timed], subject: str) -> None:
    """The edited text must say just what was asked for; anything else is refused, not written."""
    same = before.model_copy(update={"schedule": after.schedule}) == after
    if not same or {one.name: one for one in after.schedule.entries} != {one.name: one for one in entries}:
        raise SettingsError(subject, "the schedule cannot be changed in place", "Edit the file by hand.")
