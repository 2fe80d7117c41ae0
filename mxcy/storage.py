"""Memory of devices: a pool for each, which the variables MXNET_*_MEM_POOL_* govern.

Freed memory is kept and serves later requests of its size; see `stats` for how well that goes.
"""

import math
import sys
import threading

from mxcy import _front, env
from mxcy.context import Context, as_context, check_usable, serve_cache

__all__ = ["empty_cache", "memory_info", "pool_of", "round_size", "stats"]

#: device type -> the family of variables that its pools obey
_FAMILIES = {"cpu": "CPU", "gpu": "GPU", "cpu_pinned": "CPU_PINNED"}

_pools = {}
_opening = threading.Lock()


def settings(family):
    """The policy of a family of devices, as arguments of a front's ``Pool``.

    Parameters
    ----------
    family : {'CPU', 'GPU', 'CPU_PINNED'}

    Raises
    ------
    EnvError
        When a variable has a bad value, or its value does not go with another one's.
    """
    prefix = f"MXNET_{family}_MEM"
    strategy, page = env.get(f"{prefix}_POOL_TYPE"), env.get(f"{prefix}_POOL_PAGE_SIZE")
    cutoff = env.get(f"{prefix}_POOL_ROUND_LINEAR_CUTOFF")
    if env.get("MXNET_USE_NAIVE_STORAGE_MANAGERS"):
        strategy = "Unpooled"
    if strategy == "Round":
        if page & (page - 1):
            raise env.EnvError(
                f"environment variable {prefix}_POOL_PAGE_SIZE={page}: expected a power of two, "
                f"because {prefix}_POOL_TYPE=Round"
            )
        if page > 1 << cutoff:
            raise env.EnvError(
                f"environment variable {prefix}_POOL_ROUND_LINEAR_CUTOFF={cutoff}: expected at "
                f"least {math.ceil(math.log2(page))}, because {prefix}_POOL_PAGE_SIZE={page}"
            )
    large = env.get(f"{prefix}_LARGE_ALLOC_ROUND_SIZE")
    return strategy, page, large, cutoff, env.get(f"{prefix}_POOL_RESERVE")


def _temp_copies(device_type):
    """How many operators may borrow temporary space of a device at the same time."""
    name = "MXNET_GPU_TEMP_COPY" if device_type == "gpu" else "MXNET_CPU_TEMP_COPY"
    if not env.is_set(name) and env.is_set("MXNET_EXEC_NUM_TEMP"):
        return env.get("MXNET_EXEC_NUM_TEMP")
    return env.get(name)


def _open(context):
    """A new pool for a device."""
    # Shared memory goes back at once, for the processes that wait for it.
    family = _FAMILIES.get(context.device_type)
    policy = settings(family) if family else ("Unpooled", *settings("CPU")[1:])
    if family and (policy[0] != "Naive" or "storage" in env.get("MXCY_VERBOSE")):
        print(f"mxcy: {policy[0]} memory pool for {context}", file=sys.stderr, flush=True)
    return _front.Pool(*policy, _temp_copies(context.device_type), context)


def pool_of(context):
    """The pool of a device, opened at its first use.

    Parameters
    ----------
    context : Context

    Returns
    -------
    Pool
        Of the front in use.

    Raises
    ------
    EnvError
        When it is opened and a variable that governs it has a bad value.
    """
    key = (context.device_typeid, context.device_id)
    pool = _pools.get(key)
    if pool is None:
        with _opening:
            pool = _pools.get(key)
            if pool is None:
                check_usable(context)
                pool = _pools[key] = _open(Context(context))
    return pool


def stats(ctx=None):
    """What the memory pool of a device does.

    Parameters
    ----------
    ctx : Context or str, optional
        The current context by default.

    Returns
    -------
    dict
        ``strategy`` (``'Naive'``, ``'Round'`` or ``'Unpooled'``); ``page``, ``large`` and
        ``cutoff``, the sizes that govern rounding (`cutoff` as a power of two); ``limit``, the
        bytes that should stay free on the device; ``live_bytes``, ``pooled_bytes`` and
        ``peak_bytes``, rounded sizes of what is in use, kept for reuse, and at most was in use;
        ``hits`` and ``misses``, requests that kept memory served, and those it did not;
        ``flushes``, how often everything kept was given back.

    Raises
    ------
    MXNetError
        When the device cannot be used, or a variable that governs its pool has a bad value.
    """
    return pool_of(as_context(ctx)).stats()


def round_size(ctx, n):
    """The bytes that an array of `n` bytes takes on a device.

    Parameters
    ----------
    ctx : Context, str or None
    n : int
    """
    return pool_of(as_context(ctx)).round_size(n)


def empty_cache(ctx=None):
    """Give the memory that is kept for reuse on a device back to the system.

    Parameters
    ----------
    ctx : Context or str, optional
        The current context by default.
    """
    context = as_context(ctx)
    pool = _pools.get((context.device_typeid, context.device_id))
    if pool is not None:
        pool.drop()


def memory_info():
    """The memory of this machine that is available to this process, and all of it.

    Control groups (containers) are taken into account.

    Returns
    -------
    tuple of int
        ``(available, total)`` in bytes.
    """
    return _front.host_memory()


_front.set_finder(pool_of)
serve_cache(empty_cache)
