"""Rows as Arrow tables for those that write them one after another: the journal, the ledger and the snapshot.

To encode a row costs more than to copy what was encoded, so a commit's rows are encoded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

import pyarrow as pa

from storage.tables import BATCH, TABLES, Row, to_table

Encode = Callable[[str, Sequence[Row]], pa.Table]
"""Rows of the table of that name, as an Arrow table in the order given."""


def encode(name: str, rows: Sequence[Row]) -> pa.Table:
    """Rows of the table `name` as an Arrow table."""
    return to_table(rows, TABLES[name])


class EncodedRows:
    """Encodes rows, and remembers for each table what was encoded first. Threads may share it."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[dict[int, int], tuple[Row, ...], pa.Table]] = {}
        self._lock = Lock()

    def encode(self, name: str, rows: Sequence[Row]) -> pa.Table:
        """As the function `encode`; rows that are among the first ones of their table are copied from there."""
        if not rows or len(rows) > BATCH:  # a table of several batches is too large to be copied about
            return encode(name, rows)
        with self._lock:  # who comes second waits for the first, and copies
            if name not in self._kept:
                table = encode(name, rows)
                self._kept[name] = ({id(row): place for place, row in enumerate(rows)}, tuple(rows), table)
                return table
        places, kept, table = self._kept[name]
        wanted = [places.get(id(row), -1) for row in rows]
        if -1 in wanted:
            return encode(name, rows)
        if len(wanted) == len(kept) and wanted == list(range(len(kept))):
            return table
        return table.take(pa.array(wanted, type=pa.int64()))
