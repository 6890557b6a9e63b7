"""The server under the integration tests: SecantusDB, or what GEOMONGO_TEST_URI names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deployment.secantus import Secantus, server_from_environment


@pytest.fixture(scope="session")
def server() -> Iterator[Secantus | None]:
    """One SecantusDB for the whole run, with test commands on; None where a real deployment is named."""
    if server_from_environment() is not None:
        yield None
        return
    with Secantus("--enable-test-commands") as secantus:
        yield secantus


@pytest.fixture(scope="session")
def uri(server: Secantus | None) -> str:
    """The connection string of the server under test."""
    if server is not None:
        return server.uri
    named = server_from_environment()
    assert named is not None
    return named
