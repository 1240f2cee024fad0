"""The same night plain and as a Prefect flow on a server that is up: `python -m benchmarks.night_flow WIKI`.

Prints both times in seconds as a JSON array. WIKI holds settings and sources; nights run over copies of it.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from config.wiki import Wiki, open_wiki
from flows.night import night
from flows.server import own_server
from flows.steps import DirectRunner, silent, utc_now
from flows.up import run_flow

ROUNDS = 3


def main() -> None:
    """Time plain nights and flows in turns; medians."""
    source = Path(sys.argv[1])
    plain, flow = [], []
    with tempfile.TemporaryDirectory(prefix="nightwiki-bench-") as folder:
        root = Path(folder)

        def fresh(name: str) -> Wiki:
            return open_wiki(Path(shutil.copytree(source, root / name)))

        def timed(work: Callable[[], object]) -> float:
            start = time.perf_counter()
            work()
            return time.perf_counter() - start

        (root / "small").mkdir()
        shutil.copy(source / "nightwiki.yaml", root / "small")
        small = open_wiki(root / "small")
        with own_server(small) as endpoint:
            run_flow(small, endpoint, "ingest", silent)  # imports Prefect and opens its client
            for turn in range(ROUNDS):
                wiki, other = fresh(f"plain{turn}"), fresh(f"flow{turn}")
                plain.append(timed(lambda wiki=wiki: night(wiki, DirectRunner(), utc_now())))
                flow.append(timed(lambda wiki=other: run_flow(wiki, endpoint, "ingest", silent)))
    print(json.dumps([statistics.median(plain), statistics.median(flow)]))


if __name__ == "__main__":
    main()
