"""Finds the published specification tests and makes pytest parameters of them."""
import json
import os
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
    files = sorted((ROOT / folder).rglob("*.json"))
    if not files:
        reason = f"no specification tests for {folder}: set GEOMONGO_SPECIFICATIONS to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="none")]
    return [_parameter(folder, path.name, case)
            for path in files for case in json.loads(path.read_text("utf-8"))["tests"]]


def _parameter(folder: str, file: str, case: dict[str, Any]) -> Any:
    description = case["description"]
    reason = SKIPS.get((folder, file, description))
    marks = [pytest.mark.skip(reason=reason)] if reason else []
    return pytest.param(case, marks=marks, id=f"{file.removesuffix('.json')}: {description}")
