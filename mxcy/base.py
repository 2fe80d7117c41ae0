"""MXNetError and miscellaneous helpers under MXNet's names."""

import numpy as np

from mxcy import env
from mxcy._base import older_paths
from mxcy._base.errors import MXNetError, NotImplementedForSymbol, NotSupportedForSparseNDArray
from mxcy._base.listing import listing

__all__ = [
    "MXNetError",
    "NotImplementedForSymbol",
    "NotSupportedForSparseNDArray",
    "data_dir",
    "data_dir_default",
    "integer_types",
    "mx_real_t",
    "numeric_types",
    "string_types",
]

__getattr__ = older_paths.offer(
    __name__,
    ("mxcy._base.errors", "mxcy._base.axis_error")
    + ("mxcy._library.c_interface", "mxcy._base.class_tools"),
)
__dir__ = listing(__name__)


def data_dir():
    """The folder for downloaded models, data sets and embeddings: MXNET_HOME, or the default."""
    return env.get("MXNET_HOME")


def data_dir_default():
    """The default of `data_dir`, ``~/.mxnet``."""
    return env.VARIABLES["MXNET_HOME"].default


numeric_types = (float, int, np.generic)
integer_types = (int, np.integer)
string_types = (str,)
#: default element type of arrays
mx_real_t = np.float32


#: name prefix of MXNet 2's NumPy operators
_NP_OP_PREFIX, _NP_EXT_OP_PREFIX, _NP_INTERNAL_OP_PREFIX = "_np_", "_npx_", "_npi_"
#: name prefixes of operators in other namespaces
_OP_NAME_PREFIX_LIST = ["_contrib_", "_linalg_", "_sparse_", "_image_", "_random_"]


def _is_np_op(op_name):
    """Whether an operator's name is one of MXNet 2's NumPy interface."""
    return op_name.startswith((_NP_OP_PREFIX, _NP_EXT_OP_PREFIX, _NP_INTERNAL_OP_PREFIX))


class _NullType:
    """The type of `_Null`, the "not given" marker of operator parameters."""

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False


_Null = _NullType()


def _as_list(obj):
    """Return a list or tuple unchanged, anything else in a list."""
    return obj if isinstance(obj, (list, tuple)) else [obj]
