"""Processor time and memory of processes and all they have started, from /proc (Linux)."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> set[int]:
    """The process and all that it and its children have started and that are alive."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, ahead = set(), [pid]
    while ahead:
        one = ahead.pop()
        found.add(one)
        ahead += parents.get(one, [])
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and its ended children, in seconds; 0 when it is gone."""
    fields = _stat(pid)
    return sum(int(value) for value in fields[11:15]) / _TICKS if fields else 0.0


def cpu_of_all(pid: int) -> float:
    """The same of a process and all its descendants."""
    return sum(cpu_seconds(one) for one in descendants(pid))


def megabytes(pid: int) -> float:
    """Memory of a process and its descendants, shared pages counted by their share, in MB."""
    return sum(_proportional_kb(one) for one in descendants(pid)) / 1024


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the program's name: state, parent, ..."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _proportional_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
