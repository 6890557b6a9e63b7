"""PyMongo as the measured client, monkey-patched by gevent as its greenlet users run it.

Importing this module patches the process: it must be the first thing that a worker imports.
"""

from __future__ import annotations

import gevent.monkey

gevent.monkey.patch_all()

import pymongo  # noqa: E402
from operations import MongoOperations  # noqa: E402


def connect(port: int) -> MongoOperations:
    return MongoOperations(pymongo.MongoClient(f"mongodb://127.0.0.1:{port}", maxPoolSize=100))
