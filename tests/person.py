"""A scripted person who edits, renames, copies and deletes pages, and knows what must still be there afterwards."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.wikis import put

BLOCKS = (  # of which the lines with a mark must stay
    "> [!tip]- {0}\n> - [ ] {0} [[nowhere|x]]",
    "```\n---\n## {0}\n---\n```",
    "%%\n{0}\n\n- x\n%%",
    "| {0} | b |\n|---|---|\n| [[x\\|y]] | z |",
    "$$\n{0} = \\frac{{a}}{{b}}\n$$",
)


@dataclass
class Person:
    """What a person did and expects to find again: their lines by file, and files they deleted."""

    root: Path
    chance: random.Random
    lines: dict[str, list[str]] = field(default_factory=dict)  # file: lines that are theirs
    gone: set[str] = field(default_factory=set)  # titles whose page they deleted
    cut: dict[str, set[str]] = field(default_factory=dict)  # file: pipeline sentences they took out
    counter: int = 0

    def files(self) -> list[str]:
        wiki = self.root / "wiki"
        found = (path for path in wiki.rglob("*.md") if path.name != "index.md" and path.parent.name != "candidates")
        return sorted(str(path.relative_to(wiki)) for path in found)

    def act(self) -> None:
        acts = [self.write_line] * 5 + [self.write_block] + [self.edit_sentence] * 3
        acts += [self.cut_paragraph, self.own_property, self.remark_in_list, self.rename]
        acts += [self.copy, self.move_block, self.windows_endings] + [self.delete] * (self.chance.random() < 0.1)
        files = self.files()
        if files:
            self.chance.choice(acts)(self.chance.choice(files))

    def _text(self, name: str) -> str:
        return (self.root / "wiki" / name).read_bytes().decode()

    def _put(self, name: str, text: str) -> None:
        put(self.root, f"wiki/{name}", text)

    def _mark(self) -> str:
        self.counter += 1
        words = self.chance.choice(["is  kept", "stays *as* it is", "- [ ] to do", "日本語 bleibt"])
        return f"mine{self.counter:05d}  {words}"

    def write_line(self, name: str) -> None:
        text = self._text(name)
        blocks = re.split(r"(?<=\n)(?=\r?\n)", text)
        at = self.chance.randint(min(1, len(blocks)), len(blocks))
        line = self._mark()
        ending = "\r\n" if "\r\n" in text else "\n"
        head, tail = "".join(blocks[:at]), "".join(blocks[at:])
        if text.startswith("---") and not re.search(r"\n---\r?\n", head):
            head, tail = text, ""
        self._put(name, f"{head.rstrip()}{ending}{ending}{line}{ending}{ending}{tail.lstrip()}")
        self.lines.setdefault(name, []).append(line)

    def write_block(self, name: str) -> None:
        """A callout, code, a comment, a table or a formula at the end of a file."""
        self.counter += 1
        text = self._text(name)
        ending = "\r\n" if "\r\n" in text else "\n"
        block = self.chance.choice(BLOCKS).format(f"mine{self.counter:05d}").replace("\n", ending)
        self._put(name, f"{text.rstrip()}{ending}{ending}{block}{ending}")
        self.lines.setdefault(name, []).extend(line for line in block.split(ending) if "mine" in line)

    def edit_sentence(self, name: str) -> None:
        text = self._text(name)
        spots = [m.start() for m in re.finditer(r"(?<=[a-z]) (?=[a-z])", text) if m.start() > text.find("\n# ") > 0]
        spots = [at for at in spots if not re.match(r"\[\^|#", row := _row(text, at)) and "mine" not in row]
        if spots:
            at = self.chance.choice(spots)
            self.counter += 1
            word = f" mine{self.counter:05d}w "
            self._put(name, text[:at] + word + text[at + 1 :])
            self.lines.setdefault(name, []).append(word.strip())

    def cut_paragraph(self, name: str) -> None:
        text = self._text(name)
        found = [m[0] for m in re.finditer(r"(?m)^[A-Z][^\n]+\[\^nw-[0-9a-f]{8}\]\r?$", text) if "mine" not in m[0]]
        if found:
            paragraph = self.chance.choice(found)
            self._put(name, text.replace(paragraph, "", 1))
            first = re.split(r"\[\^", paragraph)[0]
            self.cut.setdefault(name, set()).add(first)

    def own_property(self, name: str) -> None:
        text = self._text(name)
        if text.startswith("---"):
            self.counter += 1
            line = f"my-key-{self.counter}: NO # mine{self.counter:05d}"
            first, rest = text.split("\n", 1)
            ending = "\r" if first.endswith("\r") else ""
            self._put(name, f"{first}\n{line}{ending}\n{rest}")
            self.lines.setdefault(name, []).append(line)

    def remark_in_list(self, name: str) -> None:
        """A comment among the values of a property that nightwiki keeps up."""
        text = self._text(name)
        found = re.match(r"---\r?\n(?:(?!---).*\n)*?sources:(\r?\n)  - ", text)
        if found:
            self.counter += 1
            line = f"# mine{self.counter:05d} on these"
            at = found.start(1) + len(found[1])
            self._put(name, f"{text[:at]}{line}{found[1]}{text[at:]}")
            self.lines.setdefault(name, []).append(line)

    def move_block(self, name: str) -> None:
        text = self._text(name)
        mine = [line for line in self.lines.get(name, []) if f"\n{line}\n" in text and not line.startswith("my-key")]
        if mine:
            line = self.chance.choice(mine)
            self._put(name, text.replace(f"\n{line}\n", "\n", 1).rstrip() + f"\n\n{line}\n")

    def windows_endings(self, name: str) -> None:
        self._put(name, re.sub(r"\r?\n", "\r\n", self._text(name)))

    def rename(self, name: str) -> None:
        self.counter += 1
        new = f"{self.chance.choice(['', 'sub/'])}Renamed {self.counter}.md"
        (self.root / "wiki" / new).parent.mkdir(exist_ok=True)
        (self.root / "wiki" / name).rename(self.root / "wiki" / new)
        for kept in (self.lines, self.cut):
            if name in kept:
                kept[new] = kept.pop(name)  # type: ignore[attr-defined]  # both are keyed by file

    def copy(self, name: str) -> None:
        if len(self.files()) > 25:
            return
        self.counter += 1
        new = f"Copy {self.counter}.md"
        self._put(new, self._text(name))
        if lines := self.lines.get(name):  # without one of theirs, the copy of a renamed page may pass for the page
            self.lines[new] = list(lines)

    def delete(self, name: str) -> None:
        (self.root / "wiki" / name).unlink()
        self.lines.pop(name, None)
        self.cut.pop(name, None)
        self.gone.add(name)

    def check(self) -> None:
        present = set(self.files())
        for name, lines in self.lines.items():
            assert name in present, f"{name} is gone"
            text = self._text(name)
            for line in lines:
                assert line in text, f"{line!r} is gone from {name}"
        for name, sentences in self.cut.items():
            for sentence in sentences if name in present else ():
                assert sentence not in self._text(name).split("\n[^")[0], f"{sentence!r} is back in {name}"
        assert not self.gone & present, "a deleted page is back"


def _row(text: str, at: int) -> str:
    """The line in which a position lies."""
    return text[text.rfind("\n", 0, at) + 1 :].split("\n", 1)[0]
