"""The token that a server needs as soon as others than this machine can reach it.

It is taken from NIGHTWIKI_TOKEN, else from the keyring, else from a file that its owner alone may read. It is never
logged or shown.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from config.errors import NightwikiError

VARIABLE = "NIGHTWIKI_TOKEN"
SHORTEST = 16


def token_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where the token lies when it lies in a file."""
    variables = os.environ if environ is None else environ
    base = variables.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "nightwiki" / "token"


def find_token(environ: Mapping[str, str] | None = None) -> str:
    """The token, or '' when there is none. Raises NightwikiError for one that is too short or open to others."""
    variables = os.environ if environ is None else environ
    path = token_file(variables)
    if token := variables.get(VARIABLE, "").strip():
        return _checked(token, VARIABLE)
    if token := _from_keyring().strip():
        return _checked(token, "keyring")
    try:
        mode = path.stat().st_mode
        token = path.read_text("ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise NightwikiError(str(path), f"the token cannot be read ({type(error).__name__})") from None
    if stat.S_IMODE(mode) & 0o077:
        raise NightwikiError(str(path), "others on this machine may read the token", f"Run: chmod 600 {path}")
    return _checked(token, str(path))


def make_token(environ: Mapping[str, str] | None = None) -> Path:
    """Write a new token into its file, which its owner alone may read, and return the file's place."""
    path = token_file(environ)
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
    return path


def _checked(token: str, place: str) -> str:
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable():
        step = "Make one with: nightwiki serve --new-token"
        raise NightwikiError(place, f"a token has at least {SHORTEST} ASCII characters", step)
    return token


def _from_keyring() -> str:
    """What the keyring holds for `nightwiki`, user `token`; '' without a keyring."""
    try:
        import keyring
    except ImportError:
        return ""
    with contextlib.suppress(Exception):  # a keyring that is locked, or absent, as on a server
        return keyring.get_password("nightwiki", "token") or ""
    return ""
