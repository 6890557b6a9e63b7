"""Runs small Python programs in processes of their own, with warnings as errors."""
from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import dedent

import gevent
from gevent import subprocess

from tests.net.connecting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def start(source: str, *arguments: str) -> subprocess.Popen:
    """Start `source` as a program whose input and output are pipes."""
    return subprocess.Popen([sys.executable, "-W", "error", "-c", dedent(source), *arguments], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True,
                            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"})


def finish(process: subprocess.Popen) -> str:
    """What the program still prints. Fails where it hangs, fails, or writes to its error output."""
    try:
        with gevent.Timeout(PATIENCE):
            output, errors = process.communicate()
    finally:
        if process.poll() is None:
            process.kill()
    assert (process.returncode, errors) == (0, ""), errors
    return output


def run(source: str, *arguments: str) -> str:
    """Run `source` and return what it prints."""
    return finish(start(source, *arguments))
