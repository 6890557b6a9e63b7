"""The benchmark: its stub server answers however the bytes arrive, and its checks name what was missed."""

from __future__ import annotations

import importlib
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bson
import pytest

BENCH = Path(__file__).resolve().parents[2] / "contrib" / "bench"


def load(name: str) -> ModuleType:
    """A module of the benchmark, whose modules import each other as the neighbours of a script do."""
    sys.path.insert(0, str(BENCH))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCH))


plan = load("plan")
stub_control = load("stub_control")
table = load("table")
targets = load("targets")


def op_msg(command: dict[str, Any], request_id: int = 7, flags: int = 0) -> bytes:
    body = bson.encode(command)
    return struct.pack("<iiiiIB", 21 + len(body), request_id, 0, 2013, flags, 0) + body


def receive(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = sock.recv(size - len(data))
        assert more, "the stub closed the connection"
        data += more
    return bytes(data)


def answer(sock: socket.socket, request_id: int = 7, opcode: int = 2013) -> dict[str, Any]:
    length, _, response_to, found = struct.unpack("<iiii", receive(sock, 16))
    assert (response_to, found) == (request_id, opcode)
    body = receive(sock, length - 16)
    return bson.decode(body[5 if opcode == 2013 else 20 :])


@pytest.fixture(scope="module")
def stub() -> Iterator[Any]:
    with stub_control.Stub() as running:
        yield running


@pytest.fixture
def sock(stub: Any) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", stub.port), timeout=30) as connected:
        yield connected


@pytest.mark.net
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ({"hello": 1}, {"isWritablePrimary": True, "maxWireVersion": 21, "ok": 1.0}),
        ({"isMaster": 1}, {"ismaster": True, "helloOk": True}),
        ({"insert": "c", "documents": [{}]}, {"n": 1, "ok": 1.0}),
        ({"update": "c", "updates": []}, {"n": 1, "nModified": 1, "ok": 1.0}),
        ({"endSessions": []}, {"ok": 1.0}),
    ],
)
def test_a_command_is_answered(sock: socket.socket, command: Any, expected: Any) -> None:
    sock.sendall(op_msg(command))
    reply = answer(sock)
    assert {name: reply[name] for name in expected} == expected
    assert "topologyVersion" not in reply


@pytest.mark.net
def test_a_legacy_hello_is_answered_by_op_reply(sock: socket.socket) -> None:
    body = struct.pack("<i", 0) + b"admin.$cmd\0" + struct.pack("<ii", 0, -1) + bson.encode({"ismaster": 1})
    sock.sendall(struct.pack("<iiii", 16 + len(body), 9, 0, 2004) + body)
    assert answer(sock, 9, opcode=1)["ismaster"] is True


@pytest.mark.net
@pytest.mark.parametrize(("collection", "count"), [("one", 1), ("many", 1000), ("huge", 76000), ("x", 0)])
def test_a_find_returns_the_documents_of_its_collection(
    sock: socket.socket, collection: str, count: int
) -> None:
    sock.sendall(op_msg({"find": collection}))
    batch = answer(sock)["cursor"]["firstBatch"]
    assert [document["n"] for document in batch] == list(range(count))


@pytest.mark.net
def test_requests_may_come_in_pieces_and_together(sock: socket.socket) -> None:
    request = op_msg({"find": "one"}, 1)
    for at in range(len(request)):
        sock.sendall(request[at : at + 1])
    assert answer(sock, 1)["ok"] == 1
    # Two big replies do not fit into the socket's buffers: the stub must keep the requests behind them.
    names = ("huge", "huge", "one", "many")
    sock.sendall(b"".join(op_msg({"find": name}, n) for n, name in enumerate(names)))
    assert [len(answer(sock, n)["cursor"]["firstBatch"]) for n in range(4)] == [76000, 76000, 1, 1000]


@pytest.mark.net
def test_a_document_sequence_before_the_body_is_stepped_over(sock: socket.socket) -> None:
    documents = bson.encode({"_id": 1})
    sequence = b"\x01" + struct.pack("<i", 4 + 10 + len(documents)) + b"documents\0" + documents
    body = struct.pack("<I", 0) + sequence + b"\x00" + bson.encode({"insert": "c"})
    sock.sendall(struct.pack("<iiii", 16 + len(body), 3, 0, 2013) + body)
    assert answer(sock, 3)["n"] == 1


@pytest.mark.net
def test_a_request_without_reply_gets_none(sock: socket.socket) -> None:
    sock.sendall(op_msg({"insert": "c"}, 1, flags=2) + op_msg({"ping": 1}, 2))
    assert answer(sock, 2)["ok"] == 1


@pytest.mark.net
@pytest.mark.parametrize(
    "message",
    [
        struct.pack("<iiii", 15, 1, 0, 2013),
        struct.pack("<iiii", 2**31 - 1, 1, 0, 2013),
        struct.pack("<iiii", 20, 1, 0, 2012) + bytes(4),
        struct.pack("<iiiiI", 26, 1, 0, 2013, 0) + b"\x01" + struct.pack("<i", -5) + b"\x00",
    ],
    ids=["shorter than a header", "too long", "another opcode", "a bad section"],
)
def test_a_broken_message_closes_the_connection(sock: socket.socket, message: bytes) -> None:
    sock.sendall(message)
    assert sock.recv(1) == b""


@pytest.mark.net
def test_the_stub_ends_when_its_stdin_closes_and_serves_many_until_then() -> None:
    stub = stub_control.Stub()
    socks = [socket.create_connection(("127.0.0.1", stub.port), timeout=30) for _ in range(500)]
    for number, sock in enumerate(socks):
        sock.sendall(op_msg({"ping": 1}, number))
    assert all(answer(sock, number)["ok"] == 1 for number, sock in enumerate(socks))
    assert stub.close() == 0
    for sock in socks:
        sock.close()


def make_rows(speeds: dict[str, float], **more: float) -> list[dict[str, Any]]:
    return [
        {"operation": "find_one", "greenlets": 100, "driver": name, "ops_per_second": speed, **more}
        for name, speed in speeds.items()
    ]


PLAN = plan.Plan(("geomongo", "pymongo", "floor"), ("find_one",), (100,), (1,), 1.0, 1)


@pytest.mark.parametrize(
    ("speeds", "cpu_us", "missed"),
    [
        ({"geomongo": 35.0, "pymongo": 10.0}, 30.0, []),
        ({"geomongo": 34.0, "pymongo": 10.0}, 30.0, ["times PyMongo's speed"]),
        ({"geomongo": 35.0, "pymongo": 10.0}, 31.0, ["us of processor time"]),
        ({"pymongo": 10.0}, 20.0, ["times PyMongo's speed", "us of processor time"]),
    ],
)
def test_a_missed_promise_is_named(speeds: dict[str, float], cpu_us: float, missed: list[str]) -> None:
    found = targets.check_targets(PLAN, make_rows(speeds, cpu_us=cpu_us), None, None)
    assert [target.text.partition(": ")[2] for target in found if not target.met] == missed


def test_rounds_become_medians_and_worst_holds() -> None:
    rounds = [{"ops_per_second": speed, "hold_ms": hold} for speed, hold in ((1, 9), (5, 7), (2, 8))]
    row = plan.combine(rounds)
    assert (row["ops_per_second"], row["hold_ms"], row["rounds"]) == (2, 9, rounds)


def test_a_failed_measurement_is_not_a_number_in_the_table() -> None:
    rows = make_rows({"geomongo": 30.0, "pymongo": 10.0}, cpu_us=1.0)
    rows.append({"operation": "find_one", "greenlets": 100, "driver": "floor", "error": "exit status 1"})
    cells = table.speed_table(PLAN, rows).rows[0]
    assert cells == ("find_one", "100", "30", "10", "n/a", "1.0", "1.0", "n/a", "3.00", "n/a")


def test_a_client_that_lost_its_core_is_reported() -> None:
    rows = make_rows({"geomongo": 30.0}, busy=0.99) + make_rows({"floor": 9.0}, busy=0.45)
    (warning,) = plan.disturbed(rows)
    assert "floor find_one 100" in warning and "45%" in warning
    assert plan.disturbed([{**rows[1], "greenlets": 1}]) == []  # one greenlet waits for the stub
