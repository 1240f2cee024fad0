"""With `git.commit: true`: each run's files become one Git commit that names the run, and nothing else is touched.

A run whose files cannot be committed now, for a merge or rebase is under way, is noted and committed by a later one.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from config.errors import NightwikiError
from config.wiki import Wiki
from storage.durable import write_file
from storage.state import WikiState

log = logging.getLogger(__name__)

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "index.lock")
_PATHS = ("--pathspec-from-file=-", "--pathspec-file-nul")
PATIENCE = 10.0
"""Seconds that a run waits for a merge or rebase to end."""

_TIMEOUT = 120  # seconds, for one call of git


def commit_run(wiki: Wiki, state: WikiState, run: str) -> None:
    """Commit the files of a run, and of those before it that still wait. A failure is logged and spoils no run."""
    note = wiki.state_dir / "git-waiting"
    waiting = note.read_text(encoding="utf-8").split() if note.is_file() else []
    if state.runs.audit(run):
        waiting.append(run)
    try:
        if waiting:
            git = _Git(wiki.root)
            git.wait(PATIENCE)
            kinds = {one.run: one.kind for one in state.runs.all()}
            while waiting:
                paths = sorted({row.path for row in state.runs.audit(waiting[0])})
                git.commit(paths, f"nightwiki: {kinds.get(waiting[0], 'run')} {waiting[0]}")
                waiting.pop(0)
    except NightwikiError as error:
        log.warning("%s", error)
    if waiting or note.is_file():
        write_file(note, ["".join(f"{one}\n" for one in waiting).encode()])


class _Git:
    """The repository that a vault lies in. Raises NightwikiError when there is none, or git fails."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._program = shutil.which("git") or ""
        if not self._program:
            raise NightwikiError(str(root), "git.commit is on, but git is not installed", "Install it, or turn it off.")
        self._folder = Path(os.fsdecode(self._call("rev-parse", "--absolute-git-dir")).rstrip("\n"))

    def wait(self, patience: float) -> None:
        """Return once no merge or rebase is under way; NightwikiError after `patience` seconds."""
        until = time.monotonic() + patience
        while found := next((name for name in _UNDER_WAY if (self._folder / name).exists()), ""):
            if time.monotonic() >= until:
                cause = f"a merge, a rebase or another git is under way ({found})"
                raise NightwikiError(str(self._root), cause, "The run's files are committed by a later run.")
            time.sleep(0.1)

    def commit(self, paths: Sequence[str], message: str) -> None:
        """Commit these files as they are now, new and removed ones too; ignored ones are left out."""
        top, prefix = (self._call("rev-parse", word).rstrip(b"\n") for word in ("--show-toplevel", "--show-prefix"))
        ours = {prefix + os.fsencode(path) for path in paths}
        rows = self._call("status", "--porcelain", "-z", "--no-renames", "-uall").split(b"\0")
        changed = [row[3:] for row in rows if row[3:] in ours]
        if not changed:
            return
        here = [path for path in changed if Path(os.fsdecode(top), os.fsdecode(path)).is_file()]
        if here:
            self._call("add", "--intent-to-add", *_PATHS, given=here, cwd=os.fsdecode(top))
        words = ("commit", "--quiet", "--no-verify", "--only", "-m", message)
        self._call(*words, *_PATHS, given=changed, cwd=os.fsdecode(top))

    def _call(self, *words: str, given: Sequence[bytes] = (), cwd: str = "") -> bytes:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environ |= {"GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
            if name in os.environ:
                environ[name] = os.environ[name]
        command = [self._program, "-C", cwd or str(self._root), "-c", "commit.gpgSign=false", *words]
        try:
            done = subprocess.run(
                command, input=b"\0".join(given), env=environ, capture_output=True, check=False, timeout=_TIMEOUT
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NightwikiError(str(self._root), f"git could not be used ({error})") from None
        if done.returncode:
            said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
            raise NightwikiError(str(self._root), f"git {words[0]} failed: {said}", "See git.commit in nightwiki.yaml.")
        return done.stdout
