"""Fixtures are plugins, one file a subject.  Nothing here, nor there, monkey-patches anything."""

pytest_plugins = ["tests.fix_server", "tests.fix_ticker"]
