"""The random streams of each device, and the seed that starts them.

All CPU contexts share one set of streams. Operations take streams in the order in which they were
called, wherever they run.
"""

from mxcy import env
from mxcy._library import front
from mxcy.base import integer_types
from mxcy.context import as_context, check_usable, cpu, gpu, num_gpus
from mxcy.ops.random import distributions as references

__all__ = ["copies", "get_state", "seed", "set_state", "streams_of"]

_CPU = None
_streams: dict = {}  # number of the GPU, or _CPU -> its streams


def copies(context):
    """How many sets of streams there are for a device, and for Dropout on it alone.

    Dropout shares the CPU's streams.

    Returns
    -------
    tuple of int
    """
    on_gpu = context.device_type == "gpu"
    if env.get("MXNET_ENFORCE_DETERMINISM"):  # whatever the order of drawing operators
        return 1, int(on_gpu)
    if on_gpu:
        sets = env.get("MXNET_GPU_PARALLEL_RAND_COPY")
        return sets, env.get("MXNET_GPU_CUDNN_DROPOUT_STATE_COPY")
    return env.get("MXNET_CPU_PARALLEL_RAND_COPY"), 0


def _of_number(number):
    stream = _streams.get(number)
    if stream is None:
        context = cpu() if number is _CPU else gpu(number)
        stream = _streams[number] = front.Streams(*copies(context))
        if number:
            stream.seed(number, 0)
    return stream


def _number_of(context):
    return context.device_id if context.device_type == "gpu" else _CPU


def streams_of(context):
    """What calls on `context` draw random numbers from: a front's `Streams`."""
    return _of_number(_number_of(context))


def seed(seed_state, ctx="all", device=None):
    """Start the random streams afresh.

    Equal seeds give equal numbers: those of MXNet 1.9.1 on a CPU, whatever the number of threads.

    Parameters
    ----------
    seed_state : int
        The seed; its low 32 bits count.
    ctx, device : Context or str, default 'all'
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
    ctx = ctx if device is None else device
    numbers = [_CPU, *range(num_gpus())]
    if ctx != "all":
        ctx = as_context(ctx)
        check_usable(ctx)
        numbers = [_number_of(ctx)]
    for number in numbers:
        _of_number(number).seed(number or 0, seed_state)
    references.seed(seed_state)


def get_state():
    """The places of the CPU's random streams, for `set_state`.

    Returns
    -------
    bytes
    """
    return _of_number(_CPU).get_state()


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
    _of_number(_CPU).set_state(state)
