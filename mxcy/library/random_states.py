"""Random engines for operators of loaded libraries: 1024 of C++'s ``std::mt19937``."""

import threading

import numpy as np

from mxcy._base.fork_safety import free_in_child
from mxcy.ops.random.distributions import generator

__all__ = ["random_states"]

_ENGINES, _WORDS = 1024, 624


class _Engines:
    """The engines, at a fixed address, which running operators may hold."""

    def __init__(self):
        self._lock = free_in_child(threading.Lock())
        self._array, self._source = None, None  # the engines, and the generator that seeded them

    def address(self, source):
        """Return the address, seeding the engines once per generator."""
        with self._lock:
            if self._array is None:
                self._array = np.empty((_ENGINES, _WORDS + 1), np.uint64)
            if self._source is not source:
                _seed(self._array, np.random.default_rng(source.bit_generator.seed_seq))
                self._source = source
            return self._array.ctypes.data


_engines = _Engines()


def random_states():
    """Return the address of the engines, seeded by `mx.random.seed`.

    Returns
    -------
    int
    """
    return _engines.address(generator(np))  # a new generator after each seed


def _seed(engines, source):
    """Initialise engines in libstdc++'s layout: the words, in 8 bytes each, and the position."""
    engines[:, 0] = source.integers(2**32, size=_ENGINES)
    for i in range(1, _WORDS):
        word = engines[:, i - 1]
        engines[:, i] = (1812433253 * (word ^ (word >> np.uint64(30))) + i) & 0xFFFFFFFF
    engines[:, _WORDS] = _WORDS
