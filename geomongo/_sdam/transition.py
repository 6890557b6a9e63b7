"""How the deployment's description changes when a server answers: the table of topology changes.

    topology / server    Standalone       Mongos         RSPrimary      Secondary, Arbiter, Other   Ghost, Unknown
    Single               keep or refuse by replica-set name; the type never changes
    Unknown              single or remove Sharded        from primary   no primary, from member     keep
    Sharded              remove           keep           remove         remove                      keep, Ghost: remove
    ReplicaSetNoPrimary  remove           remove         from primary   from member                 keep
    ReplicaSetWithPrimary remove, check   remove, check  from primary   from member, check          check
    LoadBalanced         keep

"check" looks whether a primary is left. Each function is a step of that table: description in, description out.
Source: specifications/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md,
"TopologyType table" and "Actions".
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Optional

from geomongo._sdam.server_description import ServerDescription
from geomongo._sdam.topology_description import TopologyDescription
from geomongo.errors import ConfigurationError
from geomongo.server_type import SERVER_TYPE, TOPOLOGY_TYPE
from geomongo.typings import Address

_MEMBER_TYPES = (SERVER_TYPE.RSSecondary, SERVER_TYPE.RSArbiter, SERVER_TYPE.RSOther)
Step = Callable[[TopologyDescription, ServerDescription], TopologyDescription]
#: The wire version from which electionId outranks setVersion.
_ELECTION_FIRST = 17


def initial(seeds: Iterable[Address], replica_set: Optional[str], direct: bool, load_balanced: bool,
            heartbeat_frequency: float) -> TopologyDescription:
    """The description before any server has answered."""
    servers = {seed: ServerDescription(seed) for seed in seeds}
    if load_balanced:
        kind = TOPOLOGY_TYPE.LoadBalanced
        servers = {seed: ServerDescription(seed, server_type=SERVER_TYPE.LoadBalancer) for seed in servers}
    elif direct:
        kind = TOPOLOGY_TYPE.Single
    elif replica_set is not None:
        kind = TOPOLOGY_TYPE.ReplicaSetNoPrimary
    else:
        kind = TOPOLOGY_TYPE.Unknown
    return TopologyDescription(kind, servers, replica_set, heartbeat_frequency=heartbeat_frequency)


def is_stale(known: ServerDescription, new: ServerDescription) -> bool:
    """Whether `new` was sent before `known`, by their topologyVersions."""
    return is_stale_version(known.topology_version, new.topology_version)


def is_stale_version(known: Any, new: Any) -> bool:
    """Whether topologyVersion `new` is older than `known`."""
    if known is None or new is None or known["processId"] != new["processId"]:
        return False
    return bool(known["counter"] > new["counter"])


def is_known_version(known: Any, new: Any) -> bool:
    """Whether an error with topologyVersion `new` tells nothing that `known` did not say already."""
    if known is None or new is None or known["processId"] != new["processId"]:
        return False
    return bool(known["counter"] >= new["counter"])


def apply(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    """The deployment after `server` was learnt of; the same object where it is not part of the deployment."""
    if not topology.has_server(server.address):
        return topology
    if topology.topology_type == TOPOLOGY_TYPE.Single:
        return _put(topology, _refuse_wrong_set(topology, server))
    if topology.topology_type == TOPOLOGY_TYPE.LoadBalanced:
        return topology
    step = _TABLE.get((topology.topology_type, server.server_type), _put)
    return step(topology, server)


def _put(topology: TopologyDescription, server: ServerDescription, **changes: Any) -> TopologyDescription:
    servers = topology.server_descriptions()
    servers[server.address] = server
    return topology.replace(servers=servers, **changes)


def _remove(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    servers = topology.server_descriptions()
    servers.pop(server.address, None)
    return topology.replace(servers=servers)


def _refuse_wrong_set(topology: TopologyDescription, server: ServerDescription) -> ServerDescription:
    wanted = topology.replica_set_name
    if wanted is None or not server.is_server_type_known or server.replica_set_name == wanted:
        return server
    return server.to_unknown(ConfigurationError(
        f"client is configured to connect to a replica set named '{wanted}' but this node belongs to a set named "
        f"'{server.replica_set_name}'"))


def _single_or_remove(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    if len(topology.server_descriptions()) == 1:
        return _put(topology, server, topology_type=TOPOLOGY_TYPE.Single)
    return _remove(topology, server)


def _sharded(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    return _put(topology, server, topology_type=TOPOLOGY_TYPE.Sharded)


def _check_primary(topology: TopologyDescription) -> TopologyDescription:
    has_primary = any(server.server_type == SERVER_TYPE.RSPrimary
                      for server in topology.server_descriptions().values())
    kind = TOPOLOGY_TYPE.ReplicaSetWithPrimary if has_primary else TOPOLOGY_TYPE.ReplicaSetNoPrimary
    return topology.replace(topology_type=kind)


def _put_and_check(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    return _check_primary(_put(topology, server))


def _remove_and_check(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    return _check_primary(_remove(topology, server))


def _from_member_without_primary(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    topology = topology.replace(topology_type=TOPOLOGY_TYPE.ReplicaSetNoPrimary)
    if topology.replica_set_name is None:
        topology = topology.replace(replica_set_name=server.replica_set_name)
    elif topology.replica_set_name != server.replica_set_name:
        return _remove(topology, server)
    topology = _add_hosts(_put(topology, server), server)
    if server.me is not None and server.me != server.address:
        return _remove(topology, server)
    return topology


def _from_member_with_primary(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    wrong_name = topology.replica_set_name != server.replica_set_name
    if wrong_name or (server.me is not None and server.me != server.address):
        return _remove_and_check(topology, server)
    topology = _check_primary(_put(topology, server))
    if topology.topology_type == TOPOLOGY_TYPE.ReplicaSetNoPrimary:
        topology = _add_hosts(topology, server)
    return topology


def _add_hosts(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    servers = topology.server_descriptions()
    for host in server.all_hosts:
        if host not in servers:
            servers[host] = ServerDescription(host)
    return topology.replace(servers=servers)


def _from_primary(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    if topology.replica_set_name is None:
        topology = topology.replace(replica_set_name=server.replica_set_name)
    elif topology.replica_set_name != server.replica_set_name:
        return _remove_and_check(topology, server)
    if _is_old_primary(topology, server):
        stale = server.to_unknown(ConfigurationError("primary marked stale due to electionId/setVersion mismatch"))
        return _check_primary(_put(topology, stale))
    topology = _remember_election(topology, server)
    return _check_primary(_as_primary_lists(_demote_others(_put(topology, server), server), server))


def _is_old_primary(topology: TopologyDescription, server: ServerDescription) -> bool:
    if server.max_wire_version >= _ELECTION_FIRST:
        return _older((server.election_id, server.set_version), (topology.max_election_id, topology.max_set_version))
    if server.set_version is None or server.election_id is None:
        return False
    if topology.max_set_version is None or topology.max_election_id is None:
        return False
    return (topology.max_set_version, topology.max_election_id) > (server.set_version, server.election_id)


def _older(new: tuple[Any, Any], known: tuple[Any, Any]) -> bool:
    """Whether `new` sorts before `known`, where None sorts before everything."""
    for left, right in zip(new, known):
        if left == right:
            continue
        if left is None:
            return True
        return bool(right is not None and left < right)
    return False


def _remember_election(topology: TopologyDescription, server: ServerDescription) -> TopologyDescription:
    if server.max_wire_version >= _ELECTION_FIRST:
        return topology.replace(max_election_id=server.election_id, max_set_version=server.set_version)
    changes: dict[str, Any] = {}
    if server.set_version is not None and server.election_id is not None:
        changes["max_election_id"] = server.election_id
    if server.set_version is not None and (topology.max_set_version is None
                                           or server.set_version > topology.max_set_version):
        changes["max_set_version"] = server.set_version
    return topology.replace(**changes)


def _demote_others(topology: TopologyDescription, primary: ServerDescription) -> TopologyDescription:
    servers = topology.server_descriptions()
    for address, server in servers.items():
        if address != primary.address and server.server_type == SERVER_TYPE.RSPrimary:
            stale = ConfigurationError("primary marked stale due to discovery of newer primary")
            servers[address] = server.to_unknown(stale)
    return topology.replace(servers=servers)


def _as_primary_lists(topology: TopologyDescription, primary: ServerDescription) -> TopologyDescription:
    listed = primary.all_hosts
    servers = {address: server for address, server in _add_hosts(topology, primary).server_descriptions().items()
               if address in listed}
    return topology.replace(servers=servers)


def _members(step: Step, kind: int) -> dict[tuple[int, int], Step]:
    return {(kind, member): step for member in _MEMBER_TYPES}


_TABLE: dict[tuple[int, int], Step] = {
    (TOPOLOGY_TYPE.Unknown, SERVER_TYPE.Standalone): _single_or_remove,
    (TOPOLOGY_TYPE.Unknown, SERVER_TYPE.Mongos): _sharded,
    (TOPOLOGY_TYPE.Unknown, SERVER_TYPE.RSPrimary): _from_primary,
    **_members(_from_member_without_primary, TOPOLOGY_TYPE.Unknown),
    (TOPOLOGY_TYPE.Sharded, SERVER_TYPE.Standalone): _remove,
    (TOPOLOGY_TYPE.Sharded, SERVER_TYPE.RSPrimary): _remove,
    (TOPOLOGY_TYPE.Sharded, SERVER_TYPE.RSGhost): _remove,
    **_members(_remove, TOPOLOGY_TYPE.Sharded),
    (TOPOLOGY_TYPE.ReplicaSetNoPrimary, SERVER_TYPE.Standalone): _remove,
    (TOPOLOGY_TYPE.ReplicaSetNoPrimary, SERVER_TYPE.Mongos): _remove,
    (TOPOLOGY_TYPE.ReplicaSetNoPrimary, SERVER_TYPE.RSPrimary): _from_primary,
    **_members(_from_member_without_primary, TOPOLOGY_TYPE.ReplicaSetNoPrimary),
    (TOPOLOGY_TYPE.ReplicaSetWithPrimary, SERVER_TYPE.Standalone): _remove_and_check,
    (TOPOLOGY_TYPE.ReplicaSetWithPrimary, SERVER_TYPE.Mongos): _remove_and_check,
    (TOPOLOGY_TYPE.ReplicaSetWithPrimary, SERVER_TYPE.RSPrimary): _from_primary,
    **_members(_from_member_with_primary, TOPOLOGY_TYPE.ReplicaSetWithPrimary),
    (TOPOLOGY_TYPE.ReplicaSetWithPrimary, SERVER_TYPE.Unknown): _put_and_check,
    (TOPOLOGY_TYPE.ReplicaSetWithPrimary, SERVER_TYPE.RSGhost): _put_and_check,
}
