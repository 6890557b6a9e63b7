"""Options: connection strings and keyword arguments in, one checked `ClientOptions` out."""
