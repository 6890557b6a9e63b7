"""The event classes behind `geomongo.monitoring`, which is where to import them from."""
