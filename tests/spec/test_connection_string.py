"""The connection string specification's tests."""
import warnings

import pytest

from geomongo._options.client_options import client_options
from geomongo._options.uri import parse
from geomongo.errors import PyMongoError
from geomongo.uri_parser import parse_uri
from tests.spec.spec_files import load


@pytest.mark.parametrize("case", load("connection-string"))
def test_connection_string(case):
    if not case["valid"]:
        with pytest.raises((PyMongoError, ValueError)):
            client_options(case["uri"])
        with pytest.raises((PyMongoError, ValueError)):
            parse_uri(case["uri"])
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parsed = parse_uri(case["uri"], default_port=None, warn=True)
    assert bool(caught) == bool(case["warning"])
    if case["hosts"] is not None:
        assert parsed["nodelist"] == [(host["host"], host["port"]) for host in case["hosts"]]
    if case["auth"] is not None:
        check_auth(case, parsed)
    if case["options"] is not None:
        check_options(case["options"], parsed["options"])


def check_auth(case, parsed):
    auth = case["auth"]
    assert parsed["username"] == auth["username"]
    # No password and an empty one are the same in a connection string.
    assert (parsed["password"] or None) == (auth["password"] or None)
    raw = parse(case["uri"])
    database = raw.database if raw.collection is None else f"{raw.database}.{raw.collection}"
    assert database == auth["db"]


def check_options(expected, found):
    found = {name.lower(): value for name, value in found.items()}
    for name, value in expected.items():
        assert found[name.lower()] == value, name
