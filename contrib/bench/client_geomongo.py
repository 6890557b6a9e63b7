"""geomongo as the measured client: no monkey-patching."""

from __future__ import annotations

import geomongo
from operations import MongoOperations


def connect(port: int) -> MongoOperations:
    return MongoOperations(geomongo.MongoClient(f"mongodb://127.0.0.1:{port}", maxPoolSize=100))
