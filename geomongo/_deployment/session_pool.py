"""Server sessions: last in, first out, until they are stale.

Source: specifications/source/sessions/driver-sessions.md, "Server session pool".
"""
from __future__ import annotations

import uuid
from collections import deque
from typing import Any, Optional

from bson.binary import Binary

_UUID_SUBTYPE = 4
#: A session with less than this left is not used again, in seconds.
_MARGIN = 60.0


class ServerSession:
    """One lsid. It is `dirty` once an operation on it was abandoned or met a network error."""

    __slots__ = ("dirty", "last_use", "lsid", "transaction_number")

    def __init__(self, last_use: float) -> None:
        self.lsid: dict[str, Any] = {"id": Binary(uuid.uuid4().bytes, _UUID_SUBTYPE)}
        self.last_use = last_use
        self.transaction_number = 0
        self.dirty = False


class SessionPool:
    """The sessions that are not in use. Times are monotonic, in seconds."""

    __slots__ = ("_idle", "timeout")

    def __init__(self) -> None:
        self._idle: deque[ServerSession] = deque()
        self.timeout: Optional[float] = None

    def set_timeout_minutes(self, minutes: Optional[int]) -> None:
        """What the servers say; None where sessions never go stale."""
        self.timeout = None if minutes is None else minutes * 60 - _MARGIN

    def _is_stale(self, session: ServerSession, now: float) -> bool:
        return self.timeout is not None and now - session.last_use > self.timeout

    def acquire(self, now: float) -> ServerSession:
        """A session to use."""
        idle = self._idle
        while idle:
            session = idle.pop()
            if not self._is_stale(session, now):
                return session
        return ServerSession(now)

    def release(self, session: ServerSession, now: float) -> None:
        """Take `session` back, unless it is dirty or stale; drop those that went stale meanwhile."""
        idle = self._idle
        while idle and self._is_stale(idle[0], now):
            idle.popleft()
        if not session.dirty and not self._is_stale(session, now):
            idle.append(session)

    def take_all(self) -> list[dict[str, Any]]:
        """Every idle lsid, for endSessions; the pool is empty afterwards."""
        lsids = [session.lsid for session in self._idle]
        self._idle.clear()
        return lsids

    def __len__(self) -> int:
        return len(self._idle)
