"""Messages between a process and its plain children: pickled, each led by its length."""

from __future__ import annotations

import pickle
import struct
from typing import IO

_SIZE = struct.Struct("<I")


def send(stream: IO[bytes], message: object) -> None:
    """Writes one message, led by its length."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_SIZE.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> object:
    """Reads one message; EOFError when the other side is gone."""
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError
    size = _SIZE.unpack(head)[0]
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)
