"""`mx.np`: arrays with NumPy's functions, and with gradients.

Functions behind which an operator stands are made of its record when they are first asked for;
what is made of other functions stands in this package's modules.
"""

from mxcy._library import front
from mxcy.numpy import (  # noqa: F401  they are found here
    fallback,
    fallback_linalg,
    fft,
    linalg,
    operators,
    random,
    reductions,
    register,
)
from mxcy.numpy.calls import store
from mxcy.numpy.choosing import *  # noqa: F403
from mxcy.numpy.comparing import *  # noqa: F403
from mxcy.numpy.creation import *  # noqa: F403
from mxcy.numpy.differences import *  # noqa: F403
from mxcy.numpy.elementwise import *  # noqa: F403
from mxcy.numpy.extents import *  # noqa: F403
from mxcy.numpy.financial import *  # noqa: F403
from mxcy.numpy.grids import *  # noqa: F403
from mxcy.numpy.info import *  # noqa: F403
from mxcy.numpy.io import *  # noqa: F403
from mxcy.numpy.manipulation import *  # noqa: F403
from mxcy.numpy.memory import *  # noqa: F403
from mxcy.numpy.ndarray import ndarray
from mxcy.numpy.norms import matrix_transpose  # noqa: F401
from mxcy.numpy.on_copies import *  # noqa: F403
from mxcy.numpy.padding import *  # noqa: F403
from mxcy.numpy.products import *  # noqa: F403
from mxcy.numpy.promotion import *  # noqa: F403
from mxcy.numpy.series import *  # noqa: F403
from mxcy.numpy.sets import *  # noqa: F403
from mxcy.numpy.sorting import *  # noqa: F403
from mxcy.numpy.splitting import *  # noqa: F403
from mxcy.numpy.statistics import *  # noqa: F403
from mxcy.numpy.types import *  # noqa: F403
from mxcy.numpy.with_einops import introduce
from mxcy.numpy.without_nan import *  # noqa: F403

front.use_numpy(ndarray, operators.records(), operators.unusual, store)
introduce()

__getattr__, __dir__ = register.offer(__name__, "")
