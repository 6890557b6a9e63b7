"""Conversations that open a connection, as generators: they yield a command and get its reply."""
