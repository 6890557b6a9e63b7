"""The project's outer shell: metadata, scripts, and what an import may do."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from geomongo._version import __version__

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = sorted(path.name for path in (ROOT / "contrib").glob("*.sh"))
SKIPPED_FOLDERS = {".git", ".venv", "build", "dist", "__pycache__", ".mypy_cache", ".pytest_cache", ".hypothesis"}


@pytest.fixture(scope="module")
def config() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def requirements(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names and bounds of a requirement list of setup.cfg."""
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    names = [re.match(r"[\w.-]+", line.strip()) for line in lines]
    bounds = [re.findall(r"([<>=]=?)([\w.]+)", line) for line in lines]
    return [(name.group(), bound) for name, bound in zip(names, bounds, strict=True) if name]


def release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("b")[0]))


HOLDS = {
    ">=": lambda installed, bound: release(installed) >= release(bound),
    "<": lambda installed, bound: release(installed) < release(bound),
    "==": lambda installed, bound: installed == bound,
}


def test_what_is_tested_is_what_is_promised(config: configparser.ConfigParser) -> None:
    checked = []
    for name, bounds in requirements(config["options"]["install_requires"]):
        installed = metadata.version(name)
        assert all(HOLDS[sign](installed, bound) for sign, bound in bounds), (name, installed, bounds)
        checked.append(name)
    assert checked == ["gevent", "pymongo", "dnspython"]


def test_every_requirement_has_both_bounds(config: configparser.ConfigParser) -> None:
    extras = config["options.extras_require"]
    lists = [config["options"]["install_requires"], *(extras[name] for name in extras)]
    loose = [
        name
        for text in lists
        for name, bounds in requirements(text)
        if {sign for sign, _ in bounds} not in ({">=", "<"}, {"=="})
    ]
    assert loose == []


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^(\d+\.\d+\.\d+)", changelog, re.MULTILINE)
    assert first is not None and first.group() == __version__


def test_the_readme_begins_with_both_commands() -> None:
    head = (ROOT / "README.md").read_text(encoding="utf-8")[:900]
    assert "sh contrib/demo.sh" in head and "sh contrib/test.sh" in head


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_plain_sh(name: str) -> None:
    done = subprocess.run(["sh", "-n", str(ROOT / "contrib" / name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    script = f"cd {ROOT}; PYTHON={old}; . contrib/venv.sh; find_python"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "not Python 3.10 or later" in done.stderr


def test_the_project_names_no_place_of_one_machine() -> None:
    places = [str(ROOT), str(Path.home()) + "/"]
    named = [path for path in texts() if any(place in path.read_text(encoding="utf-8") for place in places)]
    assert named == []


def texts() -> list[Path]:
    """Every text file that the project consists of."""
    kinds = {".py", ".md", ".rst", ".sh", ".cfg", ".html", ".c", ".h"}
    files = (path for path in ROOT.rglob("*") if not SKIPPED_FOLDERS & set(path.relative_to(ROOT).parts))
    return [path for path in files if path.suffix in kinds and path.is_file()]


def test_an_import_starts_and_opens_nothing() -> None:
    """No thread, no hub, no socket and no `pymongo`: in an interpreter of its own, where nothing else was imported."""
    script = """
import json, os, sys, threading
before = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
import geomongo
geomongo.MongoClient
after = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
hub = sys.modules.get("gevent._hub_local")
print(json.dumps({
    "threads": threading.active_count(),
    "hub": hub is not None and hub.get_hub_if_exists() is not None,
    "descriptors": len(after) - len(before),
    "patched": bool(getattr(sys.modules.get("gevent.monkey"), "saved", {})),
    "pymongo": sorted(name for name in sys.modules if name.split(".")[0] in ("pymongo", "gridfs")),
}))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "threads": 1, "hub": False, "descriptors": 0, "patched": False, "pymongo": []
    }
