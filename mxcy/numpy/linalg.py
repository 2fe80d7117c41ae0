"""`mx.np.linalg`: linear algebra on (stacks of) matrices in the last two axes."""

from mxcy._library import front
from mxcy.numpy import products, register
from mxcy.numpy.calls import operate
from mxcy.numpy.convert import as_array
from mxcy.numpy.products import outer, tensordot

__all__ = ["matrix_transpose", "outer", "tensordot", "vecdot"]

__getattr__, __dir__ = register.offer(__name__, "linalg")


def vecdot(a, b, axis=None):
    """The sum of products over one axis.

    Parameters
    ----------
    a, b : array_like
    axis : int, optional
        By default the flattened arrays are multiplied, as in MXNet; with NumPy's types it is the
        last axis, as in the array API.

    Returns
    -------
    ndarray
    """
    if axis is None and not front.has_numpy_types():
        return products.vdot(a, b)
    return products.vecdot(a, b, -1 if axis is None else axis)


def matrix_transpose(a):
    """The matrices with rows and columns exchanged.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When there are less than two dimensions.
    """
    a = as_array(a)
    if a.ndim < 2:
        raise ValueError(f"matrix_transpose needs two dimensions, got shape {a.shape}")
    return operate("SwapAxis", a, dim1=-2, dim2=-1)
