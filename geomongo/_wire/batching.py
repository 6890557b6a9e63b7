"""Cut a write's operations into messages: by count, by document size and by message size.

Source: specifications/source/crud/bulk-write.md and the limits in the hello reply.
"""
from __future__ import annotations

from typing import Callable, Iterator, NamedTuple

from geomongo.errors import DocumentTooLarge

#: What one statement of an update or delete may be larger than a document by, in bytes.
STATEMENT_ALLOWANCE = 16 * 1024
#: After so many encoded bytes, or so many operations, the caller may breathe.
_BREATH = 64 * 1024
_STRIDE = 256


class Limits(NamedTuple):
    """What one message to a server may hold; sizes in bytes."""

    max_document: int
    max_message: int
    max_count: int


class Batcher:
    """Hands out batches of encoded operations; `start` is the index of the first one of the batch."""

    __slots__ = ("_count", "_held", "_source", "start")

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._held: bytes | None = None
        self._count = 0
        self.start = 0

    def take(self, limits: Limits, overhead: int, breathe: Callable[[], None]) -> list[bytes]:
        """The next batch; an empty list where nothing is left.

        `overhead` is what the message holds beside the operations, in bytes. `breathe` is called between large
        pieces of encoding. Raises DocumentTooLarge for an operation that no message can carry.
        """
        self.start += self._count
        batch: list[bytes] = []
        room = limits.max_message - overhead
        size = breath = 0
        while len(batch) < limits.max_count:
            encoded = self._next()
            if encoded is None:
                break
            check_size(len(encoded), limits.max_document)
            if batch and size + len(encoded) > room:
                self._held = encoded
                break
            batch.append(encoded)
            size += len(encoded)
            if size - breath > _BREATH or not len(batch) % _STRIDE:
                breath = size
                breathe()
        self._count = len(batch)
        return batch

    def has_more(self) -> bool:
        """Whether another operation waits to be sent."""
        self._held = self._next()
        return self._held is not None

    def _next(self) -> bytes | None:
        held = self._held
        if held is not None:
            self._held = None
            return held
        return next(self._source, None)


def check_size(size: int, limit: int) -> None:
    """Raise DocumentTooLarge where an encoded document of `size` bytes is over `limit`."""
    if size > limit:
        raise DocumentTooLarge(
            f"BSON document too large ({size} bytes) - the connected server supports BSON document sizes "
            f"up to {limit} bytes.")
