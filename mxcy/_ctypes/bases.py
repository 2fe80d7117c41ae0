"""The memory of a plan's run: the same as `_cy/bases.pyx`, in plain Python."""

__all__ = ["Bases", "Kept", "Watch"]


class Kept:
    """Arrays that steps compute once; see `_cy/bases.pyx`."""

    def __init__(self, arrays):
        self.arrays, self.settled = list(arrays), False

    def settle(self):
        """Find out whether all arrays are computed; reads of devices stay engine operations."""
        self.settled = not any(
            array is not None and (array.on_device or array.failed or not array._storage.is_quiet())
            for array in self.arrays
        )
        return self.settled


class Bases:
    """The arrays that a plan's bases refer to; see `_cy/bases.pyx`."""

    def __init__(self, arena, kept, arrays):
        self.arena, self.kept, self.arrays = arena, kept, arrays
        self.all = [arena, *kept.arrays, *arrays]

    def at(self, base):
        """The array of a base."""
        return self.all[base]

    def addresses(self):
        """The addresses of all bases, None of those that no step of a run uses."""
        return [None if array is None else array.address for array in self.all]


class Watch:
    """Notices that arrays were written or replaced; see `_cy/bases.pyx`."""

    def __init__(self, arrays, slots, written):
        self._slots, self._written = slots, written
        self._seen = self._look(arrays)

    def holds(self, arrays):
        """Whether the arrays are still the same, with the same values."""
        return self._look(arrays) == self._seen

    def _look(self, arrays):
        addresses = [arrays[slot].address for slot in self._slots]
        return addresses, [arrays[slot].version for slot in self._written]
