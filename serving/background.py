"""Starts a night in a process of its own and tells its run's id at once; it goes on when the server ends."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from config.errors import NightwikiError
from config.wiki import Wiki
from serving import look
from serving.schemas.served import IngestStarted
from storage.locks import busy, holder
from storage.runs import RunRecord, Runs

PATIENCE_SECONDS = 60.0
"""After this long without a run the process is taken for lost."""

_PAUSE_SECONDS = 0.1


def start_ingest(wiki: Wiki, names: Sequence[str], force: bool) -> IngestStarted:
    """Begin a night over the named sources, or all that is new. Raises BusyError, NightwikiError for a stranger's file.

    An agent may name addresses, and files of the sources folder; any other file of this machine is not its to read.
    """
    sources = [_allowed(wiki, name) for name in names]
    held = holder(wiki.state_dir, "run")
    if held is not None and not held.soon_over:  # a sync is waited for by the night itself
        raise busy(wiki.state_dir, held)
    wiki.state_dir.mkdir(parents=True, exist_ok=True)
    log = wiki.state_dir / "ingest.log"
    command = [sys.executable, "-P", "-m", "serving.cli", "ingest", "-w", str(wiki.root)]
    command += [*(["--force"] if force else []), "--", *sources]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=wiki.root, start_new_session=True
        )
    threading.Thread(target=process.wait, name="ingest", daemon=True).start()  # so that it leaves no zombie
    return _begun(wiki, process, log)


def _allowed(wiki: Wiki, name: str) -> str:
    if name.startswith(("http://", "https://")):
        return name
    if name in set(look.locations(wiki).values()):
        return name
    folder = (wiki.root / wiki.sources_dir).resolve()
    path = (wiki.root / name).resolve()
    if path.is_relative_to(folder) and path.exists():
        return str(path)
    step = f"Name an address, or a file in {wiki.sources_dir}/"
    raise NightwikiError(name, "only addresses and files of the sources folder can be read this way", step)


def _begun(wiki: Wiki, process: subprocess.Popen[bytes], log: Path) -> IngestStarted:
    """What the diary says of the process's run, as soon as it says something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        ended = process.poll() is not None  # looked at before the diary, which is written before the end
        run = _run_of(wiki, process.pid)
        if run is not None:
            return IngestStarted(run=run.run, state=run.state, message=run.message or f"Ask status for run {run.run}")
        if ended:
            break
        time.sleep(_PAUSE_SECONDS)
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    raise NightwikiError("ingest", lines[-1] if lines else "it did not begin", "See: nightwiki status")


def _run_of(wiki: Wiki, pid: int) -> RunRecord | None:
    return next((run for run in reversed(Runs(wiki.state_dir).all()) if run.pid == pid), None)
