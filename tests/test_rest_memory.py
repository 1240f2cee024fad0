"""The memory of a server stays as large as what it needs."""

from __future__ import annotations

import subprocess
import sys


def test_threads_share_their_heaps() -> None:
    """Arrow takes its memory where everything else does, and the system's allocator is told without an error."""
    code = (
        "import pyarrow; from serving.rest.memory import share_heaps; share_heaps();"
        "print(pyarrow.default_memory_pool().backend_name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("system", "")
