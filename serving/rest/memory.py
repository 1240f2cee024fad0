"""Keeps the memory of a process that serves for months from growing with the number of its threads, and the collector
of garbage from looking through it all again and again.

glibc gives each thread heaps of its own, and what a review or a long answer leaves free in one of them no other thread
may use: ten reviews in sixteen threads held 100 MB for nothing. Two heaps do for threads that take turns anyway.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc

_M_ARENA_MAX = -8  # of malloc.h
_HEAPS = 2


def share_heaps() -> None:
    """Let all threads of this process, and Arrow, share two heaps, where the system's allocator can be told so."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)
    import pyarrow

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())


def settle() -> None:
    """Once everything is loaded: the collector need not look at it again, which held an answer up for 80 ms."""
    gc.collect()
    gc.freeze()
