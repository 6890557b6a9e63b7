"""What write operations return.

A result of an unacknowledged write knows nothing: its counts raise InvalidOperation.
"""
from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from geomongo.errors import ClientBulkWriteException, InvalidOperation

__all__ = [
    "BulkWriteResult",
    "ClientBulkWriteResult",
    "DeleteResult",
    "InsertManyResult",
    "InsertOneResult",
    "UpdateResult",
]


class _WriteResult:
    """Whether the server acknowledged the write."""

    __slots__ = ("__acknowledged",)

    def __init__(self, acknowledged: bool) -> None:
        self.__acknowledged = acknowledged

    @property
    def acknowledged(self) -> bool:
        """False for writes with `w=0`: the other properties then raise InvalidOperation."""
        return self.__acknowledged

    def _require_acknowledged(self, name: str) -> None:
        if not self.__acknowledged:
            raise InvalidOperation(f"{name} is not available: the write was not acknowledged (w=0). "
                                   "Check the acknowledged attribute first.")


class InsertOneResult(_WriteResult):
    """The result of `insert_one`."""

    __slots__ = ("__inserted_id",)

    def __init__(self, inserted_id: Any, acknowledged: bool) -> None:
        super().__init__(acknowledged)
        self.__inserted_id = inserted_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__inserted_id!r}, acknowledged={self.acknowledged})"

    @property
    def inserted_id(self) -> Any:
        """The `_id` of the document."""
        return self.__inserted_id


class InsertManyResult(_WriteResult):
    """The result of `insert_many`."""

    __slots__ = ("__inserted_ids",)

    def __init__(self, inserted_ids: list[Any], acknowledged: bool) -> None:
        super().__init__(acknowledged)
        self.__inserted_ids = inserted_ids

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__inserted_ids!r}, acknowledged={self.acknowledged})"

    @property
    def inserted_ids(self) -> list[Any]:
        """The `_id`s of the documents, in the order given."""
        return self.__inserted_ids


class UpdateResult(_WriteResult):
    """The result of `update_one`, `update_many` and `replace_one`.

    Inside a client bulk write `upserted` is one document with the `_id`, elsewhere it is the `_id` itself.
    """

    __slots__ = ("__raw_result", "__in_client_bulk")

    def __init__(self, raw_result: Mapping[str, Any] | None, acknowledged: bool,
                 in_client_bulk: bool = False) -> None:
        super().__init__(acknowledged)
        self.__raw_result = raw_result
        self.__in_client_bulk = in_client_bulk

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__raw_result!r}, acknowledged={self.acknowledged})"

    @property
    def raw_result(self) -> Mapping[str, Any] | None:
        """The server's reply."""
        return self.__raw_result

    def __reply(self, name: str) -> Mapping[str, Any]:
        self._require_acknowledged(name)
        assert self.__raw_result is not None
        return self.__raw_result

    @property
    def matched_count(self) -> int:
        """How many documents matched the filter; 0 for an upsert that inserted."""
        reply = self.__reply("matched_count")
        if not self.__in_client_bulk and reply.get("upserted") is not None:
            return 0
        count: int = reply.get("n", 0)
        return count

    @property
    def modified_count(self) -> int:
        """How many documents changed."""
        return self.__reply("modified_count").get("nModified")  # type: ignore[return-value]

    @property
    def upserted_id(self) -> Any:
        """The `_id` that an upsert inserted, or None."""
        upserted = self.__reply("upserted_id").get("upserted")
        if self.__in_client_bulk and upserted:
            return upserted["_id"]
        return upserted

    @property
    def did_upsert(self) -> bool:
        """Whether an upsert inserted a document (whose `_id` may be None)."""
        reply = self.__raw_result
        if reply is None:
            return False
        if self.__in_client_bulk:
            return bool(reply.get("upserted"))
        return reply.get("upserted") is not None


class DeleteResult(_WriteResult):
    """The result of `delete_one` and `delete_many`."""

    __slots__ = ("__raw_result",)

    def __init__(self, raw_result: Mapping[str, Any], acknowledged: bool) -> None:
        super().__init__(acknowledged)
        self.__raw_result = raw_result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__raw_result!r}, acknowledged={self.acknowledged})"

    @property
    def raw_result(self) -> Mapping[str, Any]:
        """The server's reply."""
        return self.__raw_result

    @property
    def deleted_count(self) -> int:
        """How many documents were deleted."""
        self._require_acknowledged("deleted_count")
        count: int = self.__raw_result.get("n", 0)
        return count


class _BulkCounts(_WriteResult):
    """The counts that both kinds of bulk write share."""

    __slots__ = ("__bulk_api_result",)

    def __init__(self, bulk_api_result: MutableMapping[str, Any], acknowledged: bool) -> None:
        super().__init__(acknowledged)
        self.__bulk_api_result = bulk_api_result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__bulk_api_result!r}, acknowledged={self.acknowledged})"

    @property
    def bulk_api_result(self) -> Any:
        """All that is known about the bulk, as one dict."""
        return self.__bulk_api_result

    def _count(self, name: str, key: str) -> int:
        self._require_acknowledged(name)
        return self.__bulk_api_result.get(key)  # type: ignore[return-value]

    @property
    def inserted_count(self) -> int:
        return self._count("inserted_count", "nInserted")

    @property
    def matched_count(self) -> int:
        return self._count("matched_count", "nMatched")

    @property
    def modified_count(self) -> int:
        return self._count("modified_count", "nModified")

    @property
    def deleted_count(self) -> int:
        return self._count("deleted_count", "nRemoved")

    @property
    def upserted_count(self) -> int:
        return self._count("upserted_count", "nUpserted")


class BulkWriteResult(_BulkCounts):
    """The result of `Collection.bulk_write`."""

    __slots__ = ()

    @property
    def upserted_ids(self) -> dict[int, Any] | None:
        """The `_id` of each upserted document by the index of its operation."""
        self._require_acknowledged("upserted_ids")
        if not self.bulk_api_result:
            return None
        return {upsert["index"]: upsert["_id"] for upsert in self.bulk_api_result["upserted"]}


class ClientBulkWriteResult(_BulkCounts):
    """The result of `MongoClient.bulk_write`."""

    __slots__ = ("__has_verbose_results",)

    def __init__(self, bulk_api_result: MutableMapping[str, Any], acknowledged: bool,
                 has_verbose_results: bool) -> None:
        super().__init__(bulk_api_result, acknowledged)
        self.__has_verbose_results = has_verbose_results

    def __repr__(self) -> str:
        return (f"{type(self).__name__}({self.bulk_api_result!r}, acknowledged={self.acknowledged}, "
                f"verbose={self.has_verbose_results})")

    @property
    def has_verbose_results(self) -> bool:
        """Whether the bulk was asked for a result for each operation."""
        return self.__has_verbose_results

    def __by_index(self, name: str, key: str) -> Mapping[int, Any]:
        self._require_acknowledged(name)
        if not self.__has_verbose_results:
            raise InvalidOperation(f"{name} is not available: pass verbose_results=True to bulk_write, "
                                   "or check the has_verbose_results attribute first.")
        return self.bulk_api_result.get(key)  # type: ignore[no-any-return]

    @property
    def insert_results(self) -> Mapping[int, InsertOneResult]:
        """The result of each insert by its index."""
        return self.__by_index("insert_results", "insertResults")

    @property
    def update_results(self) -> Mapping[int, UpdateResult]:
        """The result of each update and replacement by its index."""
        return self.__by_index("update_results", "updateResults")

    @property
    def delete_results(self) -> Mapping[int, DeleteResult]:
        """The result of each delete by its index."""
        return self.__by_index("delete_results", "deleteResults")


ClientBulkWriteException.partial_result_factory = ClientBulkWriteResult
