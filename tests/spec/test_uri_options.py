"""The URI options specification's tests."""
import warnings

import pytest

from geomongo._options.client_options import client_options
from geomongo._options.table import OPTIONS
from geomongo.errors import PyMongoError
from tests.spec.spec_files import load

# Durations are kept in seconds.
MILLISECONDS = {name for name in OPTIONS if name.endswith("ms") and name != "wtimeoutms"}
# What the specification calls an option's value, and geomongo works out from several.
WORKED_OUT = {"authsource": "auth_source"}


@pytest.mark.parametrize("case", load("uri-options"))
def test_uri_options(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ca.pem", "cert.pem"):
        (tmp_path / name).touch()
    if not case["valid"]:
        with pytest.raises((PyMongoError, ValueError)):
            client_options(case["uri"])
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options = client_options(case["uri"])
    assert bool(caught) == bool(case["warning"])
    assert len(caught) == len(options.warnings)
    for name, value in (case["options"] or {}).items():
        assert found(options, name.lower()) == value, name


def found(options, name):
    if name in WORKED_OUT:
        return getattr(options, WORKED_OUT[name])
    value = options.given[name]
    return value * 1000 if name in MILLISECONDS and value is not None else value
