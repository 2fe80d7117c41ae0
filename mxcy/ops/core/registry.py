"""The registry of records, which loads those of `mx.np` on demand."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

__all__ = ["Registry"]

R = TypeVar("R")


class Registry(dict[str, R]):
    """A dict that calls `load_rest` before a name is missed or names are listed.

    Attributes
    ----------
    load_rest : callable or None
        Registers the remaining records.
    """

    def __init__(self) -> None:
        super().__init__()
        self.load_rest: Callable[[], None] | None = None
        self._loading = threading.RLock()
        self._complete = False

    def _fill(self) -> None:
        if self._complete:
            return
        with self._loading:  # other threads wait; the loading thread sees the partial registry
            load, self.load_rest = self.load_rest, None
            if load is None:
                return
            try:
                load()
            except BaseException:
                self.load_rest = load  # the next access raises the same error
                raise
            self._complete = True

    def known(self, name: str) -> R | None:
        """Return the record of a name among those loaded so far, or None."""
        return super().get(name)

    def all_known(self) -> Any:
        """The names and records loaded so far."""
        return super().items()

    def __missing__(self, name: str) -> R:
        self._fill()
        if super().__contains__(name):
            return super().__getitem__(name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        self._fill()
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the record of a name, or `default`."""
        return self[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return super().__iter__()

    def __len__(self) -> int:
        self._fill()
        return super().__len__()

    def keys(self) -> Any:
        """All names."""
        self._fill()
        return super().keys()

    def values(self) -> Any:
        """All records, once per name."""
        self._fill()
        return super().values()

    def items(self) -> Any:
        """All names and records."""
        self._fill()
        return super().items()
