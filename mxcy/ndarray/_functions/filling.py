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
    """Copy an array into another one, of any dtype and on any device.

    Parameters
    ----------
    data, out : NDArray
        Arrays of equal shape.

    Returns
    -------
    NDArray
        `out`
    """
    return data.copyto(out)
