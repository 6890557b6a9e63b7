"""The session of an operation, as the executor sees it.

An operation without one borrows a server session for itself alone (in the executor). A cursor without one keeps an
implicit session until it is exhausted. `start_session` makes an explicit one.
Source: specifications/source/sessions/driver-sessions.md and causal-consistency/causal-consistency.md.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional

from bson.timestamp import Timestamp

from geomongo._commands.base import Command
from geomongo._deployment.deployment import Deployment
from geomongo._deployment.session_pool import ServerSession
from geomongo._net.clock import now
from geomongo.errors import ConfigurationError, InvalidOperation


class Session:
    """An implicit session, and what explicit ones build upon. Lends one server session from the first use on."""

    __slots__ = ("causal_consistency", "cluster_time", "deployment", "ended", "implicit", "inherited", "operation_time",
                 "server_session")

    def __init__(self, implicit: bool = True, causal_consistency: bool = False) -> None:
        self.implicit = implicit
        self.causal_consistency = causal_consistency
        self.cluster_time: Optional[Mapping[str, Any]] = None
        self.operation_time: Optional[Timestamp] = None
        self.deployment: Optional[Deployment] = None
        self.server_session: Optional[ServerSession] = None
        self.ended = False
        #: Whether this is the copy of a session in a forked child.
        self.inherited = False

    def lease(self, deployment: Deployment) -> ServerSession:
        """The server session, to run an operation on `deployment`.

        Raises InvalidOperation where the session has ended or belongs to another process or hub.
        """
        if self.ended:
            raise InvalidOperation("Cannot use ended session")
        if self.inherited:
            raise InvalidOperation("a session from before a fork cannot be used in the child: start another")
        if self.server_session is None:
            self.deployment = deployment
            self.server_session = deployment.sessions.acquire(now())
        elif self.deployment is not deployment:
            raise InvalidOperation("a session cannot be used in another process or thread than the one it began in: "
                                   "start a session there")
        self.server_session.last_use = now()
        return self.server_session

    def require_support(self) -> None:
        """The server has no sessions: an explicit one cannot be used."""
        if not self.implicit:
            raise ConfigurationError("Sessions are not supported by this MongoDB deployment")

    def add_to(self, document: dict[str, Any], command: Command) -> None:
        """Add read concern for causal consistency."""
        if not command.acknowledged and not self.implicit:
            raise ConfigurationError("Explicit sessions are incompatible with unacknowledged write concern: "
                                     f"{command.scope.write_concern!r}")
        if self.causal_consistency and command.reads and self.operation_time is not None:
            document["readConcern"] = {**document.get("readConcern", {}), "afterClusterTime": self.operation_time}

    def observe(self, reply: Mapping[str, Any]) -> None:
        """Learn operation and cluster time from a reply."""
        seen = reply.get("operationTime")
        if seen is not None and (self.operation_time is None or seen > self.operation_time):
            self.operation_time = seen
        cluster_time = reply.get("$clusterTime")
        if cluster_time is not None:
            self.see_cluster_time(cluster_time)

    def see_cluster_time(self, cluster_time: Mapping[str, Any]) -> None:
        """Keep the later cluster time."""
        known = self.cluster_time
        if known is None or cluster_time["clusterTime"] > known["clusterTime"]:
            self.cluster_time = cluster_time

    def spoil(self) -> None:
        """An operation was abandoned or met a network error: nobody may use the server session after this one."""
        if self.server_session is not None:
            self.server_session.dirty = True

    def end(self) -> None:
        """Give the server session back. Never waits."""
        self.ended = True
        session, self.server_session = self.server_session, None
        if session is not None and self.deployment is not None:
            self.deployment.sessions.release(session, now())
        self.deployment = None
