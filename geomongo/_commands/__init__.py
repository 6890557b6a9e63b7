"""One MongoDB command a class: build it for a connection, parse its reply. Commands hold names, not handles."""
