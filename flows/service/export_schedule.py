"""The wiki's deployments as a `prefect.yaml`, for a process work pool on a server of one's own.

A worker of that pool then runs the nights, without `nightwiki up`. The runs use nightwiki's own interpreter and an
empty working folder, so that a folder `flows/` or `config/` beside them does no harm.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import yaml

from config.wiki import Wiki
from flows.service import server

FLOWS = ("nightly", "weekly", "ingest", "lint", "scaffold", "routing-clean", "promote", "discard", "undo")
"""Those that write; questions are answered faster by `nightwiki serve`, on the read plane."""


def prefect_yaml(wiki: Wiki, pool: str) -> str:
    """The text of the file; deploy it with `prefect deploy --all`."""
    pull = {"prefect.deployments.steps.set_working_directory": {"directory": _folder(wiki)}}
    content = {
        "name": "nightwiki",
        "pull": [pull],
        "deployments": [_deployment(wiki, flow, pool) for flow in FLOWS],
    }
    head = f"# The flows of {wiki.root}, for a process work pool named {pool}.\n# Made by: nightwiki schedule export\n"
    return head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=False, width=120)


def _folder(wiki: Wiki) -> str:
    return str(server.working_folder(wiki))


def _job_variables(wiki: Wiki) -> dict[str, object]:
    """How the worker starts a run: by this interpreter, which imports nothing from the folder that it is in."""
    environment = {"PYTHONSAFEPATH": "1", "PREFECT_LOGGING_EXTRA_LOGGERS": "config,tasks,storage,flows,serving"}
    source = Path(__file__).resolve().parents[2]
    if "site-packages" not in source.parts:  # run from a checkout
        environment["PYTHONPATH"] = str(source)
    command = shlex.join([sys.executable, "-P", "-m", "prefect.engine"])
    return {"command": command, "working_dir": _folder(wiki), "env": environment}


def _deployment(wiki: Wiki, flow: str, pool: str) -> dict[str, object]:
    zone = wiki.settings.time_zone
    schedules = [
        {"cron": entry.cron, "timezone": entry.time_zone or zone, "slug": entry.name, "active": True}
        for entry in wiki.settings.schedule.entries
        if entry.flow == flow and entry.cron
    ]
    return {
        "name": wiki.name,
        "entrypoint": f"flows.deployed.{flow.replace('-', '_')}",
        "parameters": {"wiki": str(wiki.root)},
        "tags": ["nightwiki", wiki.name],
        "concurrency_limit": {"limit": 1, "collision_strategy": "CANCEL_NEW"},
        "schedules": schedules,
        "work_pool": {"name": pool, "job_variables": _job_variables(wiki)},
    }
