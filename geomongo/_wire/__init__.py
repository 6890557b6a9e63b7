"""The wire protocol, pure: bytes and values in, bytes and values out."""
