"""`mx.np.fallback_linalg`: the functions of linear algebra that MXNet leaves to NumPy.

Here they are functions of `mx.np.linalg` like others, with gradients where there are any.
"""

from mxcy.numpy._linalg.norms import cond
from mxcy.numpy._linalg.powers import matrix_power, multi_dot

__all__ = ["cond", "matrix_power", "multi_dot"]
