"""Sphinx's configuration.  Only what Sphinx itself ships is used, so the docs need no further package."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def _version() -> str:
    """The version without importing the whole package."""
    spec = importlib.util.spec_from_file_location("_version", ROOT / "geomongo" / "_version.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.__version__)


project = "geomongo"
author = "the geomongo contributors"
copyright = "the geomongo contributors"
release = version = _version()

extensions = ["sphinx.ext.autodoc"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
# Markdown's way of marking code, single backticks, means the same in docstrings.
default_role = "code"
nitpicky = False

html_theme = "alabaster"
html_theme_options = {
    "description": "A MongoDB driver that belongs to gevent",
    "fixed_sidebar": True,
    "page_width": "1040px",
}
html_show_sourcelink = False
exclude_patterns = ["_build"]


def _plain_backticks(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Docstrings mark code with single backticks, also right before a letter; reStructuredText would not."""
    for index, line in enumerate(lines):
        lines[index] = re.sub(r"(?<![`:])`([^`]+)`(?!`)(?=(\w?))", _as_literal, line)


def _as_literal(match: re.Match[str]) -> str:
    return f"``{match[1]}``" + ("\\ " if match[2] else "")


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("autodoc-process-docstring", _plain_backticks)
