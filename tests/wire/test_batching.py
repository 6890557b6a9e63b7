"""Writes are cut into messages by count, by document size and by message size."""
from __future__ import annotations

import pytest

from geomongo._wire.batching import Batcher, Limits, check_size
from geomongo.errors import DocumentTooLarge


def no_breath() -> None:
    """Encoding goes on."""


def batches(sizes, limits, overhead=0):
    """The sizes of the statements of each batch, and where each begins."""
    batcher = Batcher(iter([b"x" * size for size in sizes]))
    found = []
    while batcher.has_more():
        batch = batcher.take(limits, overhead, no_breath)
        found.append((batcher.start, [len(statement) for statement in batch]))
    return found


@pytest.mark.parametrize(("sizes", "limits", "overhead", "expected"), [
    ([], Limits(100, 1000, 10), 0, []),
    ([5], Limits(100, 1000, 10), 0, [(0, [5])]),
    # by count
    ([5] * 5, Limits(100, 1000, 2), 0, [(0, [5, 5]), (2, [5, 5]), (4, [5])]),
    ([5] * 4, Limits(100, 1000, 2), 0, [(0, [5, 5]), (2, [5, 5])]),
    # by message size, what is held goes first into the next
    ([50, 50, 1], Limits(100, 100, 10), 0, [(0, [50, 50]), (2, [1])]),
    ([50, 51, 1], Limits(100, 100, 10), 0, [(0, [50]), (1, [51, 1])]),
    ([50, 50, 50], Limits(100, 120, 10), 20, [(0, [50, 50]), (2, [50])]),
    ([50, 50, 50], Limits(100, 120, 10), 21, [(0, [50]), (1, [50]), (2, [50])]),
    # one statement always goes, however large the rest of the message is
    ([90, 90], Limits(100, 100, 10), 60, [(0, [90]), (1, [90])]),
])
def test_batches(sizes, limits, overhead, expected):
    assert batches(sizes, limits, overhead) == expected


def test_a_document_that_no_message_can_carry():
    batcher = Batcher(iter([b"x" * 10, b"x" * 101]))
    with pytest.raises(DocumentTooLarge, match=r"101 bytes.*up to 100 bytes"):
        batcher.take(Limits(100, 1000, 10), 0, no_breath)


@pytest.mark.parametrize(("size", "fits"), [(100, True), (101, False)])
def test_the_largest_document(size, fits):
    if fits:
        assert check_size(size, 100) is None
    else:
        with pytest.raises(DocumentTooLarge):
            check_size(size, 100)


def test_nothing_is_encoded_ahead_of_its_batch():
    encoded = []

    def source():
        for number in range(5):
            encoded.append(number)
            yield b"xxxxx"

    batcher = Batcher(source())
    assert batcher.take(Limits(100, 1000, 2), 0, no_breath) == [b"xxxxx"] * 2
    assert encoded == [0, 1]
    assert batcher.has_more() and batcher.has_more()
    assert encoded == [0, 1, 2]
    assert batcher.start == 0


def test_an_empty_batch_ends_it():
    batcher = Batcher(iter([b"x"]))
    assert batcher.take(Limits(100, 100, 9), 0, no_breath) == [b"x"]
    assert not batcher.has_more()
    assert batcher.take(Limits(100, 100, 9), 0, no_breath) == []
    assert batcher.start == 1


@pytest.mark.parametrize("operations, breaths", [
    ([b"x" * 100_000] * 12, 12),  # each is more than 64 KiB
    ([b"x" * 30_000] * 12, 4),    # after every third, more than 64 KiB are new
    ([b"x"] * 1024, 4),           # small ones: by their number
])
def test_the_caller_may_breathe_between_large_pieces(operations, breaths):
    counted = []
    batch = Batcher(iter(operations)).take(Limits(1_000_000, 48_000_000, 2000), 0, lambda: counted.append(1))
    assert batch == operations
    assert len(counted) == breaths
