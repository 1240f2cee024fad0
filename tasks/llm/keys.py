"""Where a provider's key is found: in the environment, else in the keyring of the system. Never in a file of the wiki.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from config.models import COMPATIBLE

SERVICE = "nightwiki"
"""The keyring's name for all our keys; the provider is the user name."""

_PATIENCE = 5.0  # seconds for the keyring

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    COMPATIBLE: ("NIGHTWIKI_API_KEY",),
}


@dataclass(frozen=True, slots=True)
class Key:
    """A key, and where it was found. It never shows itself."""

    value: str = field(repr=False)
    found: str = ""

    def __str__(self) -> str:
        return f"[key from {self.found}]" if self.value else "[no key]"


NO_KEY = Key("")


def find_key(provider: str, variable: str = "", environ: Mapping[str, str] | None = None) -> Key:
    """A provider's key, or `NO_KEY`. With `variable`, only that one and the keyring are looked at."""
    variables = os.environ if environ is None else environ
    for name in (variable,) if variable else VARIABLES.get(provider, ()):
        if value := variables.get(name, "").strip():
            return Key(value, name)
    if value := _from_keyring(provider):
        return Key(value, "the keyring")
    return NO_KEY


def how_to_give(provider: str, variable: str = "") -> str:
    """The sentence that says where a key belongs."""
    names = (variable,) if variable else VARIABLES.get(provider, ())
    return f"Set {' or '.join(names)}, or say: keyring set {SERVICE} {provider}"


def _from_keyring(provider: str) -> str:
    """The keyring's answer, or '' when there is none in time: a locked one may wait for a person who sleeps."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return ""
    found: list[str] = []

    def look() -> None:
        with contextlib.suppress(KeyringError, OSError, RuntimeError):
            found.append((keyring.get_password(SERVICE, provider) or "").strip())

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(_PATIENCE)
    return found[0] if found else ""
