"""`mx.np.linalg`: linear algebra on (stacks of) matrices in the last two axes."""

from mxcy.numpy import register
from mxcy.numpy.differences import cross as _cross
from mxcy.numpy.factors import *  # noqa: F403
from mxcy.numpy.norms import *  # noqa: F403
from mxcy.numpy.products import outer, tensordot  # noqa: F401

__getattr__, __dir__ = register.offer(__name__, "linalg")


def cross(a, b, axis=-1):
    """The cross product of vectors.

    Parameters
    ----------
    a, b : array_like
    axis : int
        Along which the vectors lie.

    Returns
    -------
    ndarray
    """
    return _cross(a, b, axis=axis)
