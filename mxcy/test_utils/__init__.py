"""`mx.test_utils`: helpers for tests and examples."""

from mxcy.test_utils.arrays import *  # noqa: F403
from mxcy.test_utils.comparing import *  # noqa: F403
from mxcy.test_utils.consistency import *  # noqa: F403
from mxcy.test_utils.datasets import *  # noqa: F403
from mxcy.test_utils.published import *  # noqa: F403
from mxcy.test_utils.sparse_arrays import *  # noqa: F403
from mxcy.test_utils.statistics import *  # noqa: F403
from mxcy.test_utils.surroundings import *  # noqa: F403
from mxcy.test_utils.symbols import *  # noqa: F403
from mxcy.test_utils.tolerances import *  # noqa: F403
from mxcy.util import use_np, use_np_default_dtype  # noqa: F401
