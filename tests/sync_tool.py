"""A program that keeps a folder in step with another machine, as sync tools do: a process that tests start.

`python sync_tool.py FOLDER SEED` works on the Markdown files below FOLDER at random moments until its input is closed,
then prints as JSON the lines that it brought from "the other machine". It never writes over a file that it has not
just read whole, and takes each name by a rename, as these tools do.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import threading
import time
from pathlib import Path

TEMP = (".syncthing.{}.tmp", "~syncthing~{}.tmp", ".~{}", "{}.part", "{}.tmp", ".{}.icloud")
COPY = (
    "{}.sync-conflict-20261130-1200{:02d}-ABCDEFG.md",
    "{} (conflicted copy 2026-11-30 {:02d}).md",
    "{} (Anna's conflicted copy {:02d}).md",
    "{}-DESKTOP-7{:02d}.md",
)


class SyncTool:
    """What it did is a matter of chance; what it wrote it remembers."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.chance = root, chance
        self.lines: list[tuple[str, str]] = []  # each with the file it went into
        self.undone: list[Path] = []  # temp files of transfers that were broken off
        self.written = 0

    def act(self) -> None:
        """One thing such a tool does, on one file; one that goes away meanwhile is left."""
        hidden = (".", "~", "index.md")  # whose lower part is not for writing in
        files = [path for path in sorted(self.root.rglob("*.md")) if not path.name.startswith(hidden)]
        if not files:
            return
        acts = [self.bring] * 6 + [self.copy] * 2 + [self.set_back] * 2
        acts += [self.change_case, self.replace, self.break_off, self.evict]
        with contextlib.suppress(FileNotFoundError):
            self.chance.choice(acts)(self.chance.choice(files))

    def bring(self, path: Path) -> None:
        """A line more, with the time at which the other machine wrote it."""
        self._put(path, path, path.read_bytes())

    def copy(self, path: Path) -> None:
        """The other machine's version beside ours."""
        name = self.chance.choice(COPY).format(path.stem[:60], self.chance.randrange(60))
        if "conflict" not in path.stem and "DESKTOP" not in path.stem and not (path.parent / name).exists():
            self._put(path, path.parent / name, path.read_bytes())

    def set_back(self, path: Path) -> None:
        """The same bytes with an older time."""
        os.utime(path, (1_700_000_000, 1_700_000_000 - self.chance.randrange(9_000)))

    def change_case(self, path: Path) -> None:
        """The file under the spelling that the other machine has."""
        other = path.with_name(path.stem.swapcase() + path.suffix)
        if not other.exists():
            path.rename(other)

    def replace(self, path: Path) -> None:
        """The file taken away and put there anew, with a moment between."""
        aside = path.with_name(f".{path.name}.old")
        path.rename(aside)
        time.sleep(self.chance.random() / 30)
        if path.exists() or not self._put(aside, path, aside.read_bytes()):  # a night was faster
            aside.rename(path.with_name(f"{path.stem} (conflicted copy {self.chance.random()}).md"))
        else:
            aside.unlink()

    def break_off(self, path: Path) -> None:
        """Half a transfer under a temporary name."""
        temp = path.with_name(self.chance.choice(TEMP).format(path.name))
        temp.write_bytes(path.read_bytes()[: self.chance.randrange(200)])
        self.undone.append(temp)

    def evict(self, path: Path) -> None:
        """Temporary names of broken transfers go again."""
        while self.undone:
            self.undone.pop().unlink(missing_ok=True)

    def _put(self, seen: Path, path: Path, content: bytes) -> bool:
        """Write the content with a line more under a temporary name and take the name, unless a file changed meanwhile.

        A file that was not there takes a free name only.
        """
        self.written += 1
        line = f"Remote line {self.written:05d} of machine B."
        ending = b"\r\n" if b"\r\n" in content else b"\n"
        temp = path.with_name(self.chance.choice(TEMP[:5]).format(path.name))
        temp.write_bytes(content.rstrip() + ending * 2 + line.encode() + ending)
        os.utime(temp, (1_700_000_000, 1_700_000_000 + self.chance.randrange(9_000)))
        time.sleep(self.chance.random() / 100)
        try:
            if seen.read_bytes() != content:
                raise FileNotFoundError(seen)
            if seen == path:
                temp.rename(path)
            else:
                os.link(temp, path)
        except (FileNotFoundError, FileExistsError):
            return False
        finally:
            temp.unlink(missing_ok=True)
        self.lines.append((line, path.relative_to(self.root).as_posix()))
        return True


def main() -> None:
    """Work until the input is closed."""
    ended = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=listen, daemon=True).start()
    tool = SyncTool(Path(sys.argv[1]), random.Random(int(sys.argv[2])))
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    while not ended.wait(tool.chance.random() / 25):
        tool.act()
    tool.evict(tool.root)
    json.dump(tool.lines, sys.stdout)


if __name__ == "__main__":
    main()
