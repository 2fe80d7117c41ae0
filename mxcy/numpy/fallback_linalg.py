"""`mx.np.fallback_linalg`: the linear algebra functions that MXNet delegates to NumPy.

Here they are ordinary `mx.np.linalg` functions, differentiable where defined.
"""

from mxcy.numpy._linalg.norms import cond
from mxcy.numpy._linalg.powers import matrix_power, multi_dot

__all__ = ["cond", "matrix_power", "multi_dot"]
