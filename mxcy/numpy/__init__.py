"""`mx.np`: NumPy-compatible arrays and functions, differentiable by autograd.

Functions backed by an operator are created from its record on first access; composite functions
are defined in this package's modules.
"""

from mxcy._library import front
from mxcy.numpy import fallback, fallback_linalg, fft, linalg, random, register  # noqa: F401  re-exported
from mxcy.numpy._arrays import operators
from mxcy.numpy._arrays.einops_backend import introduce as _introduce
from mxcy.numpy._arrays.memory import *  # noqa: F403
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._arrays.visiting import *  # noqa: F403
from mxcy.numpy._calls.general import store as _store
from mxcy.numpy._creation.constants import *  # noqa: F403
from mxcy.numpy._creation.conversion import *  # noqa: F403
from mxcy.numpy._creation.grids import *  # noqa: F403
from mxcy.numpy._creation.likes import *  # noqa: F403
from mxcy.numpy._creation.sequences import *  # noqa: F403
from mxcy.numpy._creation.slicing import *  # noqa: F403
from mxcy.numpy._linalg.norms import matrix_transpose  # noqa: F401
from mxcy.numpy._linalg.products import *  # noqa: F403
from mxcy.numpy._math.comparing import *  # noqa: F403
from mxcy.numpy._math.differences import *  # noqa: F403
from mxcy.numpy._math.elementwise import *  # noqa: F403
from mxcy.numpy._math.financial import *  # noqa: F403
from mxcy.numpy._math.on_copies import *  # noqa: F403
from mxcy.numpy._math.series import *  # noqa: F403
from mxcy.numpy._selection.choosing import *  # noqa: F403
from mxcy.numpy._selection.editing import *  # noqa: F403
from mxcy.numpy._selection.placing import *  # noqa: F403
from mxcy.numpy._selection.sets import *  # noqa: F403
from mxcy.numpy._selection.sorting import *  # noqa: F403
from mxcy.numpy._shape.extents import *  # noqa: F403
from mxcy.numpy._shape.manipulation import *  # noqa: F403
from mxcy.numpy._shape.padding import *  # noqa: F403
from mxcy.numpy._shape.splitting import *  # noqa: F403
from mxcy.numpy._statistics import reductions  # noqa: F401  registers handlers
from mxcy.numpy._statistics.averages import *  # noqa: F403
from mxcy.numpy._statistics.covariance import *  # noqa: F403
from mxcy.numpy._statistics.histograms import *  # noqa: F403
from mxcy.numpy._statistics.quantiles import *  # noqa: F403
from mxcy.numpy._statistics.without_nan import *  # noqa: F403
from mxcy.numpy._types.namespace_info import *  # noqa: F403
from mxcy.numpy._types.promotion import *  # noqa: F403
from mxcy.numpy._types.types import *  # noqa: F403
from mxcy.numpy._types.types import named as _named
from mxcy.numpy.arrayprint import *  # noqa: F403
from mxcy.numpy.io import *  # noqa: F403
from mxcy.profile import follow as _follow

front.use_numpy(ndarray, operators.records(), operators.unusual, _store)
_introduce()
_follow(lambda mxnet_2: globals().update(_named(mxnet_2)))

__getattr__, __dir__ = register.offer(__name__, "")
