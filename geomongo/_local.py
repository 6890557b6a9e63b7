"""What lives in one process only: clients and what hangs on them."""
from __future__ import annotations

from typing import Any, NoReturn


class Local:
    """Refuses to be pickled, and so to be copied deeply or sent to another process. Raises TypeError."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied, because it belongs to one client in one "
                        "process: make another where it is needed")
