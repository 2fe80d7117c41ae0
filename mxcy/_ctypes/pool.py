"""Memory pools through ctypes: see `_cy/pool.pyx`."""

import ctypes

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy._ctypes.native import lib
from mxcy._ctypes.services import services

__all__ = ["Pool", "host_memory", "memory_of", "pool_of"]

_STRATEGIES = ("Naive", "Round", "Unpooled")
_MAX_CLASSES = 1024  # sizes whose chunks' type is kept; then we start afresh


class _Policy(ctypes.Structure):
    """mx_pool_policy."""

    _fields_ = [
        ("strategy", ctypes.c_int32),
        ("cutoff", ctypes.c_int32),
        ("reserve", ctypes.c_int32),
        ("page", ctypes.c_size_t),
        ("large_step", ctypes.c_size_t),
    ]


class _Stats(ctypes.Structure):
    """mx_pool_stats."""

    _fields_ = [
        ("limit", ctypes.c_size_t),
        ("live_bytes", ctypes.c_size_t),
        ("pooled_bytes", ctypes.c_size_t),
        ("peak_bytes", ctypes.c_size_t),
        ("hits", ctypes.c_size_t),
        ("misses", ctypes.c_size_t),
        ("flushes", ctypes.c_size_t),
        ("temp_bytes", ctypes.c_size_t),
        ("temp_copies", ctypes.c_int32),
        ("temp_used", ctypes.c_int32),
    ]


def _prepare():
    """Tell ctypes the types; those called for every array keep the Python lock, which is faster."""
    size, address = ctypes.c_size_t, ctypes.c_void_p
    lib.mx_pool_create.restype = address
    lib.mx_pool_create.argtypes = [ctypes.c_int32, ctypes.c_int32, address, address, ctypes.c_int32]
    lib.mx_pool_round.restype = lib.mx_pool_bucket.restype = size
    lib.mx_pool_round.argtypes = lib.mx_pool_bucket.argtypes = [address, size]
    lib.mx_pool_must_drop.argtypes = [address, size, size, size]
    lib.mx_pool_destroy.argtypes = lib.mx_pool_drop.argtypes = [address]
    lib.mx_pool_read_stats.argtypes = [address, address]
    lib.mx_host_memory.argtypes = [ctypes.c_char_p, address, address]
    lib.mx_temp_take.restype = address
    lib.mx_temp_take.argtypes = [address, size, ctypes.c_int32]
    lib.mx_temp_give.argtypes = [address, address, size]
    unlocked = ctypes.PyDLL(lib._name, handle=lib._handle)
    unlocked.mx_pool_take.restype = address
    unlocked.mx_pool_take.argtypes = [address, size]
    unlocked.mx_pool_give.argtypes = [address, address, size]
    unlocked.mx_pool_give.restype = None
    return unlocked.mx_pool_take, unlocked.mx_pool_give


_take, _give = _prepare()


class Pool:
    """The memory of one device; see `_cy/pool.pyx`."""

    def __init__(self, strategy, page, large, cutoff, reserve, temp=1, context=None, source=None):
        device, number = 1, 0
        if context is not None:
            device, number = context.device_typeid, context.device_id
        self.context = context
        self._destroy = lib.mx_pool_destroy
        self._policy = _Policy(_STRATEGIES.index(strategy), cutoff, reserve, page, large)
        self._at = ctypes.addressof(self._policy)
        self.address = lib.mx_pool_create(device, number, self._at, source, temp)
        if self.address is None:
            raise MXNetError(lib.mx_last_error().decode())

    def __del__(self):
        if getattr(self, "address", None) is not None:
            self._destroy(self.address)

    def round_size(self, size):
        """The rounded size in bytes of a request of `size`."""
        return lib.mx_pool_round(self._at, size)

    def bucket(self, size):
        """The bucket for freed memory of a request of `size`."""
        return lib.mx_pool_bucket(self._at, size)

    def must_drop(self, size, free, total):
        """Whether all cached memory must be released before `size` more bytes are allocated."""
        return bool(lib.mx_pool_must_drop(self._at, self.round_size(size), free, total))

    def take(self, size):
        """Allocate `size` bytes; return the address."""
        address = _take(self.address, size) or 0
        if not address and size:
            raise MXNetError(lib.mx_last_error().decode())
        return address

    def give(self, address, size):
        """Free the memory that `take` returned for `size` bytes."""
        _give(self.address, address, size)

    def take_temp(self, size):
        """Allocate `size` bytes of temporary space, to be freed by `give_temp`."""
        address = lib.mx_temp_take(self.address, size, 1)
        if not address:
            raise MXNetError(lib.mx_last_error().decode())
        return address

    def give_temp(self, address, size):
        """Free the memory that `take_temp` returned."""
        lib.mx_temp_give(self.address, address, size)

    def drop(self):
        """Release all cached memory to the system."""
        lib.mx_pool_drop(self.address)

    def _read(self):
        now = _Stats()
        lib.mx_pool_read_stats(self.address, ctypes.byref(now))
        return now

    def stats(self):
        """The policy and the counters, as a dict."""
        now, policy = self._read(), self._policy
        return {
            "strategy": _STRATEGIES[policy.strategy],
            "page": policy.page,
            "large": policy.large_step,
            "cutoff": policy.cutoff,
            **{name: getattr(now, name) for name, _ in _Stats._fields_[:7]},
        }

    def temp_stats(self):
        """Statistics of temporary space: maximum and current number of buffers, their size."""
        now = self._read()
        return now.temp_copies, now.temp_used, now.temp_bytes


def _chunk_class(pool, size):
    """A type of `size` bytes of a pool, which go back with the last NumPy array over them.

    NumPy keeps the object whose buffer it was given; there is no quicker way to notice its end.
    """

    def __del__(self):
        give(pool, of(self), size)

    give, of, pool = _give, ctypes.addressof, pool.address
    return type("Chunk", (ctypes.c_char * size,), {"__slots__": (), "__del__": __del__})


_chunk_classes = {}


def memory_of(pool, size, shape, kind):
    """An uninitialised NumPy array of `size` bytes over memory of a pool, and its address."""
    key = pool, size
    chunk = _chunk_classes.get(key)
    if chunk is None:
        if len(_chunk_classes) >= _MAX_CLASSES:
            _chunk_classes.clear()
        chunk = _chunk_classes[key] = _chunk_class(pool, size)
    address = _take(pool.address, size)
    if address is None:
        raise MXNetError(lib.mx_last_error().decode())
    return np.ndarray(shape, kind, chunk.from_address(address)), address


class _Last:
    """The most recently used pool."""

    pool = None


def pool_of(context):
    """Return the pool of a context."""
    pool = _Last.pool
    if pool is None or context is not pool.context:
        pool = _Last.pool = services.pool_of(context)
    return pool


def host_memory(root=""):
    """(free, total) bytes of this machine for this process; /proc and /sys are below `root`."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    lib.mx_host_memory(root.encode(), ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value
