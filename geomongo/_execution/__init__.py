"""How operations run: the command loop, retries, sessions, observers, batches and cursors."""
