"""Directions and kinds of an index, as index specifications and sorts name them."""
from __future__ import annotations

__all__ = ["ASCENDING", "DESCENDING", "GEO2D", "GEOSPHERE", "HASHED", "MAX_SUPPORTED_WIRE_VERSION",
           "MIN_SUPPORTED_WIRE_VERSION", "TEXT"]

ASCENDING = 1
DESCENDING = -1
GEO2D = "2d"
GEOSPHERE = "2dsphere"
HASHED = "hashed"
TEXT = "text"

#: The wire protocol versions that the driver speaks (8: MongoDB 4.2).
MIN_SUPPORTED_WIRE_VERSION = 8
MAX_SUPPORTED_WIRE_VERSION = 29
