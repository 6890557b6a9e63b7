"""gunicorn's configuration for the demo: gevent workers on an application that is loaded before the fork."""

import os
from typing import Any

# The listening socket is made by run.py and inherited: nobody else can take its port.
bind = f"fd://{os.environ['GEOMONGO_DEMO_FD']}"
workers = int(os.environ["GEOMONGO_DEMO_WORKERS"])
worker_class = "gevent"
preload_app = True
wsgi_app = "contrib.demo.app:application"
keepalive = 75
graceful_timeout = 5
loglevel = "warning"


def post_worker_init(worker: Any) -> None:
    """In each worker, after the fork: begin to measure the hub and to report."""
    worker.app.wsgi().start_reporting()
