"""Functions of `mx.nd._internal` that write to an array."""

__all__: list[str] = []


def _set_value(src, out):
    """Fill an array with a number.

    Parameters
    ----------
    src : float
    out : NDArray

    Returns
    -------
    NDArray
        `out`
    """
    out[:] = float(src)
    return out


def _copyto(data, out):
    """Copy an array into another, also of another type or on another device.

    Parameters
    ----------
    data, out : NDArray
        Of one shape.

    Returns
    -------
    NDArray
        `out`
    """
    return data.copyto(out)
