"""The version, in one place: read by setup.cfg, the handshake's client metadata and the docs."""

__version__ = "0.1.0"
