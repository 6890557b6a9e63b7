"""The measured operations, for any client with PyMongo's API, and what each of them must return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gevent

MANY = 1_000
HUGE = 76_000
#: Names of the operations, in the order in which they are measured.
OPERATIONS = ("find_one", "insert_one", "update_one", "read_1000", "huge_loop", "huge_list")
#: Those that read the 16 MB reply: measured with few greenlets, and with a ticker that watches the hub.
HUGE_OPERATIONS = ("huge_loop", "huge_list")
QUERY = {"_id": 1}
CHANGE = {"$set": {"n": 1}}


def new_document() -> dict[str, Any]:
    """What insert_one inserts; without `_id`, so that the driver makes one."""
    return {"name": "Ada Lovelace", "n": 1, "score": 42.5, "active": True}


class MongoOperations:
    """The operations on a client with PyMongo's API."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._db = client["bench"]

    def operation(self, name: str) -> Callable[[], Any]:
        """A function without arguments that runs operation `name` once."""
        return getattr(self, "_" + name)()

    def close(self) -> None:
        self._client.close()

    def numbers(self, collection: str, batch_size: int) -> list[int]:
        """The field `n` of every document of a collection."""
        return [document["n"] for document in self._db[collection].find({}, batch_size=batch_size)]

    def check(self, name: str, result: Any) -> bool:
        """Whether `result` is what operation `name` must return."""
        if name == "find_one":
            return result["n"] == 0 and result["tags"] == ["first", "second"]
        if name == "insert_one":
            return result.acknowledged and result.inserted_id is not None
        if name == "update_one":
            return (result.matched_count, result.modified_count) == (1, 1)
        return check_read(name, result)

    def _find_one(self) -> Callable[[], Any]:
        collection = self._db["one"]
        return lambda: collection.find_one(QUERY)

    def _insert_one(self) -> Callable[[], Any]:
        collection = self._db["writes"]
        return lambda: collection.insert_one(new_document())

    def _update_one(self) -> Callable[[], Any]:
        collection = self._db["writes"]
        return lambda: collection.update_one(QUERY, CHANGE)

    def _read_1000(self) -> Callable[[], Any]:
        return self._loop("many", MANY)

    def _huge_loop(self) -> Callable[[], Any]:
        return self._loop("huge", HUGE)

    def _loop(self, name: str, batch_size: int) -> Callable[[], Any]:
        collection = self._db[name]

        def read() -> tuple[int, int]:
            count = 0
            for document in collection.find({}, batch_size=batch_size):
                count += 1
            return count, document["n"]

        return read

    def _huge_list(self) -> Callable[[], Any]:
        collection = self._db["huge"]

        def read() -> tuple[int, int]:
            documents = list(collection.find({}, batch_size=HUGE))
            result = len(documents), documents[-1]["n"]
            let_go(documents)
            return result

        return read


def let_go(documents: list[Any]) -> None:
    """Free a long list piece by piece: freeing it at once holds the hub 20 ms, which is no client's doing."""
    while documents:
        del documents[-4000:]
        gevent.sleep(1e-6)


def check_read(name: str, result: tuple[int, int]) -> bool:
    """Whether a reading operation saw every document: their number and the last one's `n`."""
    count = HUGE if name in HUGE_OPERATIONS else MANY
    return result == (count, count - 1)
