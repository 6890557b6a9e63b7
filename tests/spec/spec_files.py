"""Finds the published specification tests and makes pytest parameters of them."""
import json
import os
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from tests.spec.skips import SKIPS

ROOT = Path(os.environ.get("GEOMONGO_SPECIFICATIONS")
            or Path(__file__).resolve().parents[2].parent / "shared" / "specifications")


def load(folder: str) -> list[Any]:
    """One parameter for each case in a folder's files, with the skip table applied.

    Without the specifications, one parameter that is skipped with a plain message.
    """
    return [_parameter(folder, path.name, case)
            for path in _files(folder) for case in json.loads(path.read_text("utf-8"))["tests"]] or [_none(folder)]


def load_whole(folder: str) -> list[Any]:
    """As `load`, for formats in which a file is one case.

    In the skip table such a file has its path below the folder, or a pattern such as "*", and no description.
    """
    return [_whole_file(folder, path) for path in _files(folder)] or [_none(folder)]


def _files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.json"))


def _none(folder: str) -> Any:
    reason = f"no specification tests for {folder}: set GEOMONGO_SPECIFICATIONS to their folder"
    return pytest.param(None, marks=pytest.mark.skip(reason=reason), id="none")


def _whole_file(folder: str, path: Path) -> Any:
    name = str(path.relative_to(ROOT / folder))
    reason = next((reason for (where, pattern, description), reason in SKIPS.items()
                   if where == folder and not description and fnmatch(name, pattern)), None)
    marks = [pytest.mark.skip(reason=reason)] if reason else []
    case = json.loads(path.read_text("utf-8"))
    return pytest.param(case, marks=marks, id=f"{path.parent.name}/{name.removesuffix('.json')}")


def _parameter(folder: str, file: str, case: dict[str, Any]) -> Any:
    description = case["description"]
    reason = SKIPS.get((folder, file, description))
    marks = [pytest.mark.skip(reason=reason)] if reason else []
    return pytest.param(case, marks=marks, id=f"{file.removesuffix('.json')}: {description}")
