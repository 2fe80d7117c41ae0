"""Resources that operators borrow from a device while they run."""

from mxcy import storage
from mxcy._devices import streams
from mxcy.context import as_context

__all__ = ["stats"]


def stats(ctx=None):
    """Statistics of a device's resources.

    Parameters
    ----------
    ctx : Context or str, optional
        The current context by default.

    Returns
    -------
    dict
        ``temp``, the maximum number of operators that have temporary space at the same time
        (MXNET_CPU_TEMP_COPY, MXNET_GPU_TEMP_COPY); ``temp_used``, the number of buffers so far, and
        ``temp_bytes``, their total size; ``random``, the number of sets of random streams that
        operators use in turn (MXNET_CPU_PARALLEL_RAND_COPY, MXNET_GPU_PARALLEL_RAND_COPY);
        ``dropout``, the number of those reserved for Dropout (MXNET_GPU_CUDNN_DROPOUT_STATE_COPY;
        0 on the CPU, where it uses the others).

    Raises
    ------
    MXNetError
        If the device is unusable, or a variable has an invalid value.
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
