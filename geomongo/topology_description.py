"""TopologyDescription, as `MongoClient.topology_description` and events show it."""
from __future__ import annotations

from geomongo._sdam.topology_description import TopologyDescription
from geomongo.server_type import TOPOLOGY_TYPE

__all__ = ["TOPOLOGY_TYPE", "TopologyDescription"]
