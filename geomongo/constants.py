"""Directions and kinds of an index, as index specifications and sorts name them."""
from __future__ import annotations

__all__ = ["ASCENDING", "DESCENDING", "GEO2D", "GEOSPHERE", "HASHED", "TEXT"]

ASCENDING = 1
DESCENDING = -1
GEO2D = "2d"
GEOSPHERE = "2dsphere"
HASHED = "hashed"
TEXT = "text"
