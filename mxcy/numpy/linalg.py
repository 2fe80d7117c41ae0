"""`mx.np.linalg`: linear algebra on (stacks of) matrices in the last two axes."""

from mxcy._library import front
from mxcy.numpy import register
from mxcy.numpy._calls import symbolic
from mxcy.numpy._calls.operands import as_array as _as_array
from mxcy.numpy._linalg.factors import *  # noqa: F403
from mxcy.numpy._linalg.norms import *  # noqa: F403
from mxcy.numpy._linalg.powers import *  # noqa: F403
from mxcy.numpy._linalg.products import cross as _cross
from mxcy.numpy._linalg.products import outer, tensordot  # noqa: F401
from mxcy.numpy._linalg.solutions import *  # noqa: F403
from mxcy.ops.core.infer import normal_axis as _normal_axis

__getattr__, __dir__ = register.offer(__name__, "linalg")


def cross(a, b, axis=-1):
    """Compute the cross product of 3-component vectors.

    Parameters
    ----------
    a, b : array_like
    axis : int
        Axis of the vectors.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        With NumPy's dtypes, if the vectors do not have three components.
    """
    if front.has_numpy_types() and not symbolic.any_symbols((a, b)):
        shapes = [_as_array(x).shape for x in (a, b)]
        if any(shape[_normal_axis(axis, len(shape))] != 3 for shape in shapes):
            raise ValueError(f"linalg.cross: expected three components, got shapes {shapes}")
    return _cross(a, b, axis=axis)
