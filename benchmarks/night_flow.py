"""The same night plain and as a Prefect flow on a server that is up: `python -m benchmarks.night_flow WIKI [ROUNDS]`.

Prints processor seconds of both, then wall seconds of both as a JSON array. WIKI holds settings and sources; nights
run over copies of it. Processor time is that of this process, its workers and the server.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.cpu import cpu_of_all
from config.wiki import Wiki, open_wiki
from flows.night import night
from flows.service.server import own_server
from flows.service.up import run_flow
from flows.steps import DirectRunner, silent, utc_now

ROUNDS = 3


@dataclass(slots=True)
class Times:
    """Wall and processor seconds of each turn."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, work: Callable[[], object]) -> None:
        """Carry out some work and note what it took."""
        cpu, start = cpu_of_all(os.getpid()), time.perf_counter()
        work()
        self.wall.append(time.perf_counter() - start)
        self.cpu.append(cpu_of_all(os.getpid()) - cpu)


def main() -> None:
    """Time plain nights and flows in turns; medians."""
    source = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    plain, flow = Times(), Times()
    with tempfile.TemporaryDirectory(prefix="nightwiki-bench-") as folder:
        root = Path(folder)

        def fresh(name: str) -> Wiki:
            return open_wiki(Path(shutil.copytree(source, root / name)))

        (root / "small").mkdir()
        shutil.copy(source / "nightwiki.yaml", root / "small")
        small = open_wiki(root / "small")
        with own_server(small) as endpoint:
            run_flow(small, endpoint, "ingest", silent)  # imports Prefect and opens its client
            for turn in range(rounds):
                wiki, other = fresh(f"plain{turn}"), fresh(f"flow{turn}")
                plain.add(partial(night, wiki, DirectRunner(), utc_now()))
                flow.add(partial(run_flow, other, endpoint, "ingest", silent))
    print(f"processor seconds: plain {statistics.median(plain.cpu):.2f}, flow {statistics.median(flow.cpu):.2f}")
    print(json.dumps([statistics.median(plain.wall), statistics.median(flow.wall)]))


if __name__ == "__main__":
    main()
