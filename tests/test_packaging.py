"""What is shipped: the rooms and their data, pinned packages, and no address of a registry anywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONSTRAINTS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def test_every_package_is_pinned_within_its_bounds() -> None:
    """`make` installs what was tested, and that is what pyproject.toml asks for."""
    pins = {canonicalize_name(one.name): Version(str(one.specifier).removeprefix("==")) for one in CONSTRAINTS}
    asked = [
        *PROJECT["dependencies"],
        *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
    ]
    for line in asked:
        wanted = Requirement(line)
        assert pins[canonicalize_name(wanted.name)] in wanted.specifier, line


def test_constraints_are_exact_and_local_to_nobody() -> None:
    """Each line is a name and one version."""
    assert [str(one) for one in CONSTRAINTS if one.url or not str(one.specifier).startswith("==")] == []


def test_no_file_names_a_registry() -> None:
    """Where packages come from is the machine's own setting."""
    listed = (
        subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
        .stdout.decode()
        .split("\0")
    )
    if listed == [""]:
        pytest.skip("not a git checkout")
    address = re.compile("pypi" + r"\.org|files\.pythonhosted|index[-_]url|find[-_]links")
    named = {
        name
        for name in listed
        if name.endswith((".toml", ".txt", ".cfg", ".ini", ".md", "Makefile", "run", ".py", ".yaml"))
        and (ROOT / name).is_file()
        and not name.startswith(("tests/", "config/data/"))
        and address.search((ROOT / name).read_text(encoding="utf-8"))
    }
    assert named == set()


def test_the_wheel_holds_the_rooms_and_their_data(tmp_path: Path) -> None:
    """The demo's sources and the tokenizer travel with the package; tests and benchmarks stay at home."""
    pytest.importorskip("hatchling.build")
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = zipfile.ZipFile(tmp_path / done.stdout.split()[-1]).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"config", "tasks", "storage", "flows", "serving"}
    for part in ("config/data/demo/raw_sources/eniac.pdf", "tokenizer.json", "LICENSE"):
        assert any(part in name for name in names), part
