"""The memory of the ctypes front is NumPy's, so its pool keeps nothing and counts nothing."""

__all__ = ["configure", "empty_cache", "round_size", "stats"]


def configure(kind, page_size, large_round, linear_cutoff, reserve):
    """Accept the settings of the Cython front's pool."""


def round_size(size):
    """The bytes a request of `size` takes."""
    return size


def empty_cache():
    """Nothing is kept."""


def stats():
    """Counters with the keys of the Cython front's pool."""
    keys = ("live_bytes", "pooled_bytes", "peak_bytes", "hits", "misses", "flushes")
    return {"strategy": "Unpooled", **dict.fromkeys(keys, 0)}
