"""The command line: `main` runs one command and turns what happened into an exit code.

0 done; 1 an error, one line on standard error; 2 wrong usage; 3 done in part, or findings; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn, TextIO, cast

import click

from config.errors import NightwikiError
from serving.cli.app import cli

DONE, ERROR, USAGE, PARTIAL, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


def main() -> NoReturn:
    """Entry point of the `nightwiki` command."""
    if sys.getfilesystemencoding() != "utf-8":  # an old locale: begin again, so that names of files are understood
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    signal.signal(signal.SIGTERM, _terminated)  # as an exception, so that worker processes are ended too
    for stream in (sys.stdout, sys.stderr):
        _speak_utf8(stream)
    code = run(sys.argv[1:])
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        sys.stderr.flush()
        sys.exit(code)
    _forget_output()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """The exit code of one command; errors are printed as one line."""
    try:
        result = cli.main(list(arguments), prog_name="nightwiki", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except NightwikiError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader of our output has seen enough
        _forget_output()
        return DONE
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), error)
    except Exception as error:
        return _fail(f"unexpected {type(error).__name__}: {error}. Set NIGHTWIKI_DEBUG=1 to see where", error)
    return result if isinstance(result, int) else DONE


def _fail(line: str, error: BaseException | None = None) -> int:
    if error is not None and os.environ.get("NIGHTWIKI_DEBUG"):
        raise error
    click.echo(f"nightwiki: {' '.join(line.split())}", err=True)
    return ERROR


def _terminated(number: int, frame: FrameType | None) -> None:
    sys.exit(TERMINATED)


def _speak_utf8(stream: TextIO) -> None:
    """Pages hold every script, whatever the locale says; undecodable file names are shown escaped."""
    reconfigure = getattr(cast(object, stream), "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")


def _forget_output() -> None:
    """Keeps the interpreter from complaining about a closed pipe when it flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
