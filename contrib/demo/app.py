"""The demo's WSGI application: a small order desk on geomongo.

The client is opened, and used, while this module is imported.  Under ``preload_app`` that is in gunicorn's
master process, before the fork, where nothing is monkey-patched yet.

    POST /orders                  {"id", "customer", "cents"}: inserts an order
    GET  /orders/ID               reads it back
    POST /orders/ID/pay           updates it
    GET  /customers/NAME          aggregates a customer's orders
    GET  /                        a page that shows the figures of all workers
    GET  /status                  the same as JSON
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import geomongo
from contrib.demo.report import RecentCommands, WorkerReport, read_reports

StartResponse = Callable[[str, list[tuple[str, str]]], object]
PAGE = Path(__file__).with_name("page.html").read_bytes()
STATUS = {200: "200 OK", 201: "201 Created", 404: "404 Not Found", 500: "500 Internal Server Error"}

recent = RecentCommands()
client: Any = geomongo.MongoClient(os.environ["GEOMONGO_URI"], event_listeners=[recent])
orders = client[os.environ["GEOMONGO_DEMO_DATABASE"]].orders
orders.create_index("customer")  # used before the fork, on purpose


class Application:
    """The callable that gunicorn serves, and this worker's report."""

    def __init__(self) -> None:
        self.report = WorkerReport(client, recent, Path(os.environ["GEOMONGO_DEMO_STATUS"]))

    def start_reporting(self) -> None:
        """Called once in each worker, after the fork."""
        self.report.start()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if (method, path) == ("GET", "/"):
            return respond(start_response, 200, PAGE, "text/html; charset=utf-8")
        if (method, path) == ("GET", "/status"):
            return respond(start_response, 200, as_json(read_reports(self.report.directory)))
        self.report.requests += 1
        try:
            code, answer = route(method, path.strip("/").split("/"), environ)
        except Exception as error:
            self.report.errors += 1
            code, answer = 500, {"error": f"{type(error).__name__}: {error}"}
        return respond(start_response, code, as_json(answer))


def route(method: str, parts: list[str], environ: dict[str, Any]) -> tuple[int, Any]:
    """The status code and the answer of one request of the order desk."""
    match method, parts:
        case "POST", ["orders"]:
            return 201, insert(json.loads(environ["wsgi.input"].read()))
        case "GET", ["orders", order]:
            found = orders.find_one({"_id": order})
            return (404, {"error": "no such order"}) if found is None else (200, found)
        case "POST", ["orders", order, "pay"]:
            return 200, pay(order)
        case "GET", ["customers", customer]:
            return 200, summary(customer)
    return 404, {"error": "no such page"}


def insert(order: dict[str, Any]) -> dict[str, Any]:
    """Stores an order as it came."""
    result = orders.insert_one(
        {"_id": order["id"], "customer": order["customer"], "cents": order["cents"], "state": "new"}
    )
    return {"inserted": result.inserted_id}


def pay(order: str) -> dict[str, Any]:
    """Marks an order as paid, once."""
    result = orders.update_one({"_id": order, "state": "new"}, {"$set": {"state": "paid"}})
    return {"matched": result.matched_count, "modified": result.modified_count}


def summary(customer: str) -> dict[str, Any]:
    """Counts and adds up a customer's orders, by state."""
    group = {"_id": "$state", "orders": {"$sum": 1}, "cents": {"$sum": "$cents"}}
    cursor = orders.aggregate([{"$match": {"customer": customer}}, {"$group": group}])
    return {row["_id"]: {"orders": row["orders"], "cents": row["cents"]} for row in cursor}


def respond(
    start_response: StartResponse, code: int, body: bytes, content_type: str = "application/json"
) -> list[bytes]:
    """Sends one whole answer, which names the worker that gave it."""
    headers = [("Content-Type", content_type), ("Content-Length", str(len(body)))]
    start_response(STATUS[code], [*headers, ("Cache-Control", "no-store"), ("X-Worker", str(os.getpid()))])
    return [body]


def as_json(value: Any) -> bytes:
    """JSON text of an answer."""
    return json.dumps(value).encode()


application = Application()
