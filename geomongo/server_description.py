"""ServerDescription, as `MongoClient.topology_description` and events show it."""
from __future__ import annotations

from geomongo._sdam.server_description import ServerDescription

__all__ = ["ServerDescription"]
