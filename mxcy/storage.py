"""Device memory: one pool per device, configured by MXNET_*_MEM_POOL_*.

Freed memory is kept for later requests of its size; see `stats` for its effect.
"""

import sys
import threading

from mxcy import env
from mxcy._base.fork_safety import free_in_child
from mxcy._library import front, shared_memory
from mxcy.context import (
    Context,
    as_context,
    check_usable,
    current_context,
    memory_source,
    serve_cache,
)

__all__ = ["USUAL", "empty_cache", "memory_info", "pool_of", "round_size", "stats"]

#: device type -> the variables that configure its pools
_VARIABLES = {
    "cpu": (
        "MXNET_CPU_MEM_POOL_TYPE",
        "MXNET_CPU_MEM_POOL_PAGE_SIZE",
        "MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE",
        "MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
        "MXNET_CPU_MEM_POOL_RESERVE",
    ),
    "cpu_pinned": (
        "MXNET_CPU_PINNED_MEM_POOL_TYPE",
        "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE",
        "MXNET_CPU_PINNED_MEM_LARGE_ALLOC_ROUND_SIZE",
        "MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF",
        "MXNET_CPU_PINNED_MEM_POOL_RESERVE",
    ),
    "gpu": (
        "MXNET_GPU_MEM_POOL_TYPE",
        "MXNET_GPU_MEM_POOL_PAGE_SIZE",
        "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE",
        "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
        "MXNET_GPU_MEM_POOL_RESERVE",
    ),
}

#: default context of arrays, which fronts recognize by identity
USUAL = current_context()

_pools = {}
_opening = free_in_child(threading.Lock())


def _policy(device_type):
    """Strategy, page, large step, cutoff and reserve, the arguments of a front's ``Pool``."""
    names = _VARIABLES.get(device_type)
    if names is None:  # shared memory is not pooled, as other processes may need it
        return ("Unpooled", *_policy("cpu")[1:])
    strategy, page, large, cutoff, reserve = map(env.get, names)
    if env.get("MXNET_USE_NAIVE_STORAGE_MANAGERS"):
        strategy = "Unpooled"
    if strategy == "Round" and (page & (page - 1) or page > 1 << cutoff):
        raise env.EnvError(
            f"environment variable {names[1]}={page}: expected a power of two, at most 2^{cutoff} "
            f"({names[3]}), because {names[0]}=Round"
        )
    return strategy, page, large, cutoff, reserve


def _temp_copies(device_type):
    """The maximum number of operators that use a device's temporary space concurrently."""
    name = "MXNET_GPU_TEMP_COPY" if device_type == "gpu" else "MXNET_CPU_TEMP_COPY"
    if not env.is_set(name) and env.is_set("MXNET_EXEC_NUM_TEMP"):
        return env.get("MXNET_EXEC_NUM_TEMP")
    return env.get(name)


def _open(context):
    """Create the pool of a device."""
    policy = _policy(context.device_type)
    chosen = policy[0] != "Naive" and context.device_type in _VARIABLES
    if chosen or "storage" in env.get("MXCY_VERBOSE"):
        print(f"mxcy: {policy[0]} memory pool for {context}", file=sys.stderr, flush=True)
    copies = _temp_copies(context.device_type)
    return front.Pool(*policy, copies, context, memory_source(context))


def pool_of(context):
    """Return the pool of a device, created at its first use.

    Parameters
    ----------
    context : Context

    Returns
    -------
    Pool
        A pool of the front in use.

    Raises
    ------
    EnvError
        If a variable that configures it has an invalid value.
    """
    key = (context.device_typeid, context.device_id)
    pool = _pools.get(key)
    if pool is None:
        with _opening:
            pool = _pools.get(key)
            if pool is None:
                check_usable(context)
                pool = _pools[key] = _open(USUAL if context == USUAL else Context(context))
    return pool


def stats(ctx=None):
    """Statistics of a device's memory pool.

    Parameters
    ----------
    ctx : Context or str, optional
        The current context by default.

    Returns
    -------
    dict
        ``strategy`` (``'Naive'``, ``'Round'`` or ``'Unpooled'``); ``page``, ``large`` and
        ``cutoff``, the sizes used in rounding (`cutoff` as a power of two); ``limit``, the bytes to
        leave free on the device; ``live_bytes``, ``pooled_bytes`` and ``peak_bytes``: rounded sizes
        of the memory in use, kept for reuse, and in use at most; ``hits`` and ``misses``, requests
        served from kept memory or not; ``flushes``, how often all kept memory was released.

    Raises
    ------
    MXNetError
        If the device is unusable, or a variable that configures its pool has an invalid value.

    Notes
    -----
    It waits for all operations called so far, so that their memory counts as free.
    """
    front.settle_all()
    context = as_context(ctx)
    statistics = pool_of(context).stats()
    # Shared memory has no pool: segments are counted over all device ids.
    return (
        {**statistics, **shared_memory.stats()}
        if context.device_type == "cpu_shared"
        else statistics
    )


def round_size(ctx, n):
    """Return the bytes that an array of `n` bytes occupies on a device.

    Parameters
    ----------
    ctx : Context, str or None
    n : int
    """
    context = as_context(ctx)
    if context.device_type == "cpu_shared":
        return shared_memory.round_size(n)
    return pool_of(context).round_size(n)


def empty_cache(ctx=None):
    """Release a device's pooled memory to the system.

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
    """Return the available and the total memory of this machine.

    Limits of control groups (containers) are taken into account.

    Returns
    -------
    tuple of int
        ``(available, total)`` in bytes.
    """
    return front.host_memory()


serve_cache(empty_cache)
