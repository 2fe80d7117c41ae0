"""What operators borrow from a device while they run."""

from mxcy import storage
from mxcy._devices import streams
from mxcy.context import as_context

__all__ = ["stats"]


def stats(ctx=None):
    """What a device lends to operators.

    Parameters
    ----------
    ctx : Context or str, optional
        The current context by default.

    Returns
    -------
    dict
        ``temp``, how many operators may have temporary space at the same time
        (MXNET_CPU_TEMP_COPY, MXNET_GPU_TEMP_COPY); ``temp_used``, how many buffers there are by
        now, and ``temp_bytes``, what they take together; ``random``, the sets of random streams
        that operators take in turn (MXNET_CPU_PARALLEL_RAND_COPY, MXNET_GPU_PARALLEL_RAND_COPY);
        ``dropout``, those that only Dropout takes (MXNET_GPU_CUDNN_DROPOUT_STATE_COPY; none on the
        CPU, where it takes the others).

    Raises
    ------
    MXNetError
        When the device cannot be used, or a variable has a bad value.
    """
    context = as_context(ctx)
    copies, used, size = storage.pool_of(context).temp_stats()
    random, dropout = streams.copies(context)
    return {
        "temp": copies,
        "temp_used": used,
        "temp_bytes": size,
        "random": random,
        "dropout": dropout,
    }
