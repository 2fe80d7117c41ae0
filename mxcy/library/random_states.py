"""Random engines for operators of loaded libraries: 1024 of C++'s ``std::mt19937``."""

import numpy as np

from mxcy.ops.random.distributions import generator

__all__ = ["random_states"]

_ENGINES, _WORDS = 1024, 624
_made = None, None  # the generator that seeded the engines, and the engines


def random_states():
    """The address of the engines, which `mx.random.seed` seeds.

    Returns
    -------
    int
    """
    global _made
    source = generator(np)  # another one after each seed
    if _made[0] is not source:
        _made = source, _seeded(np.random.default_rng(source.bit_generator.seed_seq))
    return _made[1].ctypes.data


def _seeded(source):
    """Engines in the layout of libstdc++: the words, each in 8 bytes, and the place."""
    engines = np.empty((_ENGINES, _WORDS + 1), np.uint64)
    engines[:, 0] = source.integers(2**32, size=_ENGINES)
    for i in range(1, _WORDS):
        word = engines[:, i - 1]
        engines[:, i] = (1812433253 * (word ^ (word >> np.uint64(30))) + i) & 0xFFFFFFFF
    engines[:, _WORDS] = _WORDS
    return engines
