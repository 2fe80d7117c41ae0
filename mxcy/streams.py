"""The random streams of each device, and the seed that starts them."""

from mxcy import _front, env
from mxcy.base import integer_types
from mxcy.context import as_context, check_usable
from mxcy.ops import random as references

__all__ = ["address_for", "get_state", "seed", "set_state"]

_cpu = None


def _cpu_streams():
    """The streams that all CPU contexts share."""
    global _cpu
    if _cpu is None:
        one = env.get("MXNET_ENFORCE_DETERMINISM")  # whatever the order of drawing operators
        _cpu = _front.Streams(1 if one else env.get("MXNET_CPU_PARALLEL_RAND_COPY"))
    return _cpu


def address_for(context):
    """What a kernel call on `context` needs to draw random numbers."""
    return _cpu_streams().address


def seed(seed_state, ctx="all"):
    """Start the random streams afresh.

    Equal seeds give equal numbers: those of MXNet 1.9.1 on a CPU, whatever the number of threads.

    Parameters
    ----------
    seed_state : int
        The seed; its low 32 bits count.
    ctx : Context or str, default 'all'
        The device whose streams are seeded. All CPU contexts share one set of streams.

    Raises
    ------
    ValueError
        When `seed_state` is not an integer.
    MXNetError
        When `ctx` is a device that cannot be used.
    """
    if not isinstance(seed_state, integer_types):
        raise ValueError(f"seed_state must be int, got {type(seed_state).__name__}")
    seed_state = int(seed_state) & 0xFFFFFFFF
    if ctx != "all":
        check_usable(as_context(ctx))
    _cpu_streams().seed(0, seed_state)
    references.seed(seed_state)


def get_state():
    """The places of the CPU's random streams, for `set_state`.

    Returns
    -------
    bytes
    """
    return _cpu_streams().get_state()


def set_state(state):
    """Make the CPU's random streams continue from where they were.

    Parameters
    ----------
    state : bytes
        What `get_state` returned, in this or another process.

    Raises
    ------
    MXNetError
        When `state` is not such a state, or of streams with another MXNET_CPU_PARALLEL_RAND_COPY.
    """
    _cpu_streams().set_state(state)
