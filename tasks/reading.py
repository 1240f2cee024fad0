"""Reading sources: in this process (`read`) or in worker processes with limits (`ReadingPool`), to the same results."""

from __future__ import annotations

from tasks.read_source import Analyse, ReadJob, ReadResult, read
from tasks.reading_pool import ReadingPool

__all__ = ["Analyse", "ReadJob", "ReadResult", "ReadingPool", "read"]
