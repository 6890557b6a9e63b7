"""What happens in the child of a fork: everything that was registered forgets its sockets.

The fork has copied every greenlet, also those that wait inside an operation: their waits end with `LEFT_BEHIND`.
The hook takes no lock, waits for nothing and starts nothing.
"""
from __future__ import annotations

import os
import weakref
from typing import Protocol

from gevent import reinit
from gevent._hub_local import get_hub_if_exists

#: What a copied greenlet is told.
LEFT_BEHIND = "the process was forked while this operation was under way: it goes on in the parent, and ends here"


class Inherited(Protocol):
    """Something that holds connections of the parent."""

    def after_fork(self) -> None:
        """Drop what was inherited, without sending a byte."""


_registered: weakref.WeakSet[Inherited] = weakref.WeakSet()


def register(holder: Inherited) -> None:
    """Have `holder.after_fork` called in every child, as long as it lives."""
    _registered.add(holder)


def _after_fork_in_child() -> None:
    hub = get_hub_if_exists()
    if hub is not None:
        # Before anything is closed, so that what the child's loop does is not done to the parent's.
        reinit(hub)
    for holder in list(_registered):
        holder.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
