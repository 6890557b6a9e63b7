"""Listeners that write what happens to the standard logging module: to use, or to copy from."""
from __future__ import annotations

import logging

from geomongo import monitoring

__all__ = ["CommandLogger", "ConnectionPoolLogger", "HeartbeatLogger", "ServerLogger", "TopologyLogger"]

_log = logging.getLogger("geomongo.event_loggers")


class CommandLogger(monitoring.CommandListener):
    """Logs commands (level INFO), without their contents."""

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        _log.info("Command %s, request %s: sent to %s", event.command_name, event.request_id,
                  event.connection_id)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        _log.info("Command %s, request %s: answered by %s after %s microseconds", event.command_name,
                  event.request_id, event.connection_id, event.duration_micros)

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        _log.info("Command %s, request %s: failed at %s after %s microseconds", event.command_name,
                  event.request_id, event.connection_id, event.duration_micros)


class ServerLogger(monitoring.ServerListener):
    """Logs servers that come and go (INFO; WARNING when one goes) and changes of their type."""

    def opened(self, event: monitoring.ServerOpeningEvent) -> None:
        _log.info("Server %s: added to topology %s", event.server_address, event.topology_id)

    def description_changed(self, event: monitoring.ServerDescriptionChangedEvent) -> None:
        before, after = event.previous_description, event.new_description
        if before.server_type != after.server_type:
            _log.info("Server %s: was %s, is %s", event.server_address, before.server_type_name,
                      after.server_type_name)

    def closed(self, event: monitoring.ServerClosedEvent) -> None:
        _log.warning("Server %s: removed from topology %s", event.server_address, event.topology_id)


class HeartbeatLogger(monitoring.ServerHeartbeatListener):
    """Logs heartbeats (INFO; WARNING when one fails)."""

    def started(self, event: monitoring.ServerHeartbeatStartedEvent) -> None:
        _log.info("Heartbeat to %s: sent", event.connection_id)

    def succeeded(self, event: monitoring.ServerHeartbeatSucceededEvent) -> None:
        # The reply's document has no secrets: a monitor never authenticates.
        _log.info("Heartbeat to %s: answered with %s", event.connection_id, event.reply.document)

    def failed(self, event: monitoring.ServerHeartbeatFailedEvent) -> None:
        _log.warning("Heartbeat to %s: failed: %s", event.connection_id, event.reply)


class TopologyLogger(monitoring.TopologyListener):
    """Logs topologies (INFO), and when no server can be written to or read from (WARNING)."""

    def opened(self, event: monitoring.TopologyOpenedEvent) -> None:
        _log.info("Topology %s: opened", event.topology_id)

    def description_changed(self, event: monitoring.TopologyDescriptionChangedEvent) -> None:
        before, after = event.previous_description, event.new_description
        _log.info("Topology %s: description changed", event.topology_id)
        if before.topology_type != after.topology_type:
            _log.info("Topology %s: was %s, is %s", event.topology_id, before.topology_type_name,
                      after.topology_type_name)
        if not after.has_writable_server():
            _log.warning("Topology %s: no server to write to", event.topology_id)
        if not after.has_readable_server():
            _log.warning("Topology %s: no server to read from", event.topology_id)

    def closed(self, event: monitoring.TopologyClosedEvent) -> None:
        _log.info("Topology %s: closed", event.topology_id)


class ConnectionPoolLogger(monitoring.ConnectionPoolListener):
    """Logs pools and their connections (INFO)."""

    def pool_created(self, event: monitoring.PoolCreatedEvent) -> None:
        _log.info("Pool %s: created", event.address)

    def pool_ready(self, event: monitoring.PoolReadyEvent) -> None:
        _log.info("Pool %s: ready", event.address)

    def pool_cleared(self, event: monitoring.PoolClearedEvent) -> None:
        _log.info("Pool %s: cleared", event.address)

    def pool_closed(self, event: monitoring.PoolClosedEvent) -> None:
        _log.info("Pool %s: closed", event.address)

    def connection_created(self, event: monitoring.ConnectionCreatedEvent) -> None:
        _log.info("Pool %s, connection %s: created", event.address, event.connection_id)

    def connection_ready(self, event: monitoring.ConnectionReadyEvent) -> None:
        _log.info("Pool %s, connection %s: ready", event.address, event.connection_id)

    def connection_closed(self, event: monitoring.ConnectionClosedEvent) -> None:
        _log.info("Pool %s, connection %s: closed (%s)", event.address, event.connection_id, event.reason)

    def connection_check_out_started(self, event: monitoring.ConnectionCheckOutStartedEvent) -> None:
        _log.info("Pool %s: connection asked for", event.address)

    def connection_check_out_failed(self, event: monitoring.ConnectionCheckOutFailedEvent) -> None:
        _log.info("Pool %s: no connection (%s)", event.address, event.reason)

    def connection_checked_out(self, event: monitoring.ConnectionCheckedOutEvent) -> None:
        _log.info("Pool %s, connection %s: checked out", event.address, event.connection_id)

    def connection_checked_in(self, event: monitoring.ConnectionCheckedInEvent) -> None:
        _log.info("Pool %s, connection %s: checked in", event.address, event.connection_id)
