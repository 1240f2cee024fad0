"""Runs a module in a process that ends when its parent does, however the parent ended.

The parent holds the other end of the pipe that is standard input here. When it dies, even by `kill -9`,
the pipe closes.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def _follow_parent() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Run the module named first, such as `prefect`, with the other arguments."""
    threading.Thread(target=_follow_parent, name="follow-parent", daemon=True).start()
    module = sys.argv[1]
    sys.argv = [module, *sys.argv[2:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
