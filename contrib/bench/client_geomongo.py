"""geomongo as the measured client: no monkey-patching."""

from __future__ import annotations

from operations import MongoOperations

import geomongo


def connect(port: int) -> MongoOperations:
    return MongoOperations(geomongo.MongoClient(f"mongodb://127.0.0.1:{port}", maxPoolSize=100))
