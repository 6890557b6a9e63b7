"""Fixtures are plugins, one file a subject.  Nothing here, nor there, monkey-patches anything."""
from __future__ import annotations

import pymongo

pytest_plugins = ["tests.fix_server", "tests.fix_ticker"]

# PyMongo is the oracle of these tests, in the version that they were written against. An older one, which is what
# Python 3.10 gets, answers differently in places.
ORACLE = (4, 20)
ORACLE_TESTS = ["integration/test_differential.py", "test_public_api.py", "unit/test_error_rules.py",
                "unit/test_errors.py", "unit/test_monitoring_values.py", "unit/test_operations.py",
                "unit/test_options.py", "unit/test_uri_parser.py", "unit/test_values.py"]
OLD_ORACLE = pymongo.version_tuple[:2] < ORACLE
collect_ignore = ORACLE_TESTS if OLD_ORACLE else []


def pytest_report_header() -> list[str]:
    if not OLD_ORACLE:
        return []
    return [f"left out, for PyMongo {pymongo.version} is older than {ORACLE}: {', '.join(ORACLE_TESTS)}"]
