"""One mapping between the frozen records of `tasks.records` and Arrow tables, for every table there is.

Works column by column, so that 10,000 pages with their blocks take about a second either way. Nested dataclasses
become structs, tuples become lists, enums their string. A column that an old file lacks takes the field's default.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from config.errors import StateError
from tasks.commits import Changes
from tasks.contradictions.claims import ContradictionRecord
from tasks.records import (
    CandidateRecord,
    ChunksRecord,
    DecisionRecord,
    DocumentRecord,
    EmbeddingRecord,
    PageRecord,
    SourceRecord,
)

Row = (
    PageRecord | SourceRecord | DocumentRecord | ChunksRecord | CandidateRecord | EmbeddingRecord | ContradictionRecord
    | DecisionRecord
)
R = TypeVar("R")

TABLES: Mapping[str, type[Row]] = types.MappingProxyType({
    "pages": PageRecord,
    "sources": SourceRecord,
    "documents": DocumentRecord,
    "chunks": ChunksRecord,
    "candidates": CandidateRecord,
    "embeddings": EmbeddingRecord,
    "contradictions": ContradictionRecord,
    "decisions": DecisionRecord,
})
"""The tables of a wiki: name, as in `Changes`, and record. Every record has a string `id` as its key.

New ones go last: an open journal of an older version ends before them."""

BATCH = 4096  # rows a record batch holds, which keeps a batch's text below Arrow's 2 GB limit
_SCALARS: Mapping[object, pa.DataType] = {
    str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary(),
}
_SCHEMAS: dict[type, pa.Schema] = {}
_HINTS: dict[type, Mapping[str, Any]] = {}


def changed_rows(changes: Changes, table: str) -> tuple[Row, ...]:
    """The rows that `changes` sets in a table."""
    rows: tuple[Row, ...] = getattr(changes, table)
    return rows


def dropped_ids(changes: Changes, table: str) -> tuple[str, ...]:
    """The ids that `changes` drops from a table."""
    ids: tuple[str, ...] = getattr(changes, f"drop_{table}")
    return ids


def schema(record: type) -> pa.Schema:
    """The Arrow schema of a record type."""
    if record not in _SCHEMAS:
        _SCHEMAS[record] = pa.schema([_arrow_field(name, hint) for name, hint in _hints(record).items()])
    return _SCHEMAS[record]


def to_table(rows: Iterable[R], record: type[R]) -> pa.Table:
    """Rows as an Arrow table of `schema(record)`, in the order given."""
    listed = list(rows)
    arrow_schema = schema(record)
    batches = [
        pa.RecordBatch.from_arrays(_encode_columns(listed[start:start + BATCH], record), schema=arrow_schema)
        for start in range(0, len(listed), BATCH)
    ]
    return pa.Table.from_batches(batches, schema=arrow_schema)


def from_table(table: pa.Table, record: type[R]) -> tuple[R, ...]:
    """An Arrow table as rows; StateError when it lacks a column that has no default."""
    rows: list[R] = []
    for batch in table.to_batches():
        columns = {name: batch.column(index) for index, name in enumerate(batch.schema.names)}
        rows.extend(_decode_records(columns, batch.num_rows, record))
    return tuple(rows)


def conform(table: pa.Table, record: type) -> pa.Table:
    """A table written by an older version, with today's columns: missing ones take their default."""
    if table.schema.equals(schema(record)):
        return table
    return to_table(from_table(table, record), record)


def _hints(record: type) -> Mapping[str, Any]:
    if record not in _HINTS:
        hints = get_type_hints(record)
        _HINTS[record] = {item.name: hints[item.name] for item in fields(record)}
    return _HINTS[record]


def _arrow_field(name: str, hint: object) -> pa.Field:
    plain, optional = _without_none(hint)
    return pa.field(name, _arrow_type(plain), nullable=optional)


def _arrow_type(hint: object) -> pa.DataType:
    if hint in _SCALARS:
        return _SCALARS[hint]
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_field("item", get_args(hint)[0]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return pa.string()
    if isinstance(hint, type) and is_dataclass(hint):
        return pa.struct(list(schema(hint)))
    raise TypeError(f"no Arrow type for {hint!r}")


def _without_none(hint: object) -> tuple[object, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        rest = [part for part in get_args(hint) if part is not type(None)]
        if len(rest) == 1 and _is_scalar(rest[0]):
            return rest[0], True
        raise TypeError(f"only an optional scalar can be stored, not {hint!r}")
    return hint, False


def _is_scalar(hint: object) -> bool:
    return hint in _SCALARS or (isinstance(hint, type) and issubclass(hint, Enum))


def _encode_columns(rows: Sequence[Any], record: type) -> list[pa.Array]:
    return [_encode(list(map(attrgetter(name), rows)), hint) for name, hint in _hints(record).items()]


def _encode(values: list[Any], hint: object) -> pa.Array:
    hint, _ = _without_none(hint)
    if hint is str:
        return _encode_text(values)
    if _is_scalar(hint):
        return pa.array(values, type=_arrow_type(hint))
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        offsets = pa.array([0, *accumulate(map(len, values))], type=pa.int32())
        flat = _encode(list(chain.from_iterable(values)), item)
        return pa.ListArray.from_arrays(offsets, flat, type=_arrow_type(hint))
    assert isinstance(hint, type)
    return pa.StructArray.from_arrays(_encode_columns(values, hint), fields=list(schema(hint)))


def _decode_records(columns: Mapping[str, pa.Array], length: int, record: type[R]) -> list[R]:
    known: Mapping[str, Field[Any]] = {item.name: item for item in fields(record)}  # type: ignore[arg-type]
    decoded = []
    for name, hint in _hints(record).items():
        if name in columns:
            decoded.append(_decode(columns[name], hint))
        else:
            decoded.append([_default(record, known[name])] * length)
    return list(map(record, *decoded))


def _default(record: type, item: Field[Any]) -> object:
    if item.default is not MISSING:
        return item.default
    if item.default_factory is not MISSING:
        return item.default_factory()
    cause = f"the stored rows have no '{item.name}'"
    raise StateError(record.__name__, cause, "They are of another version of nightwiki.")


def _decode(array: pa.Array, hint: object) -> list[Any]:
    hint, optional = _without_none(hint)
    if get_origin(hint) is tuple:
        flat = _decode(array.flatten(), get_args(hint)[0])
        ends = list(accumulate(array.value_lengths().to_pylist(), initial=0))
        return [tuple(flat[start:end]) for start, end in pairwise(ends)]
    if isinstance(hint, type) and issubclass(hint, Enum):
        members: dict[str | None, Enum | None] = {str(member.value): member for member in hint}
        if optional:
            members[None] = None
        return [members[value] for value in array.to_pylist()]
    if isinstance(hint, type) and is_dataclass(hint):
        names = [array.type.field(index).name for index in range(array.type.num_fields)]
        children = dict(zip(names, array.flatten(), strict=True))
        return _decode_records(children, len(array), hint)
    values: list[Any] = array.to_pylist()
    if hint is str and pc.any(pc.starts_with(array, _BYTES)).as_py():
        return [_BYTES_BACK.sub(_original, text[1:]) if text and text[0] == _BYTES else text for text in values]
    return values


# --- text that is not UTF-8 ----------------------------------------------------------------------------------------
# A file of a person's may hold any bytes. Read with `surrogateescape` they come as lone surrogates, which Arrow cannot
# store: each becomes a character of a private plane, behind a mark that says so.

_BYTES = "\U0010fe7f"
_LONE = re.compile("[\udc80-\udcff]|[\U0010fe7f-\U0010feff]")
_BYTES_BACK = re.compile("\U0010fe7f(.)|[\U0010fe80-\U0010feff]", re.DOTALL)


def _encode_text(values: list[Any]) -> pa.Array:
    try:
        array = pa.array(values, type=pa.string())
        if not pc.any(pc.starts_with(array, _BYTES)).as_py():
            return array
    except UnicodeEncodeError:
        pass
    return pa.array([_storable(text) for text in values], type=pa.string())


def _storable(text: str | None) -> str | None:
    if text is None or (text.isascii() or not _LONE.search(text)):
        return text
    return _BYTES + _LONE.sub(lambda found: _stand_in(found[0]), text)


def _stand_in(char: str) -> str:
    byte = ord(char) - 0xDC00
    return chr(0x10FE00 + byte) if 0 < byte < 0x100 else _BYTES + char


def _original(found: re.Match[str]) -> str:
    return found[1] or chr(ord(found[0]) - 0x10FE00 + 0xDC00)
