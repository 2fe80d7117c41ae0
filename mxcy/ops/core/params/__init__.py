"""Parameter structs that kernels receive, declared once for C, Cython and Python.

There is a module for each header of ``kernels``. ``python -m tools.params --write`` makes these and
``mxcy/_cy/params.pxd`` of them; a test keeps them fresh. Kernels that include another header than
the common one are the only ones to be compiled again when it changes.

A field is ``name=ctype`` with ctype ``i32``, ``i64``, ``f64`` or an array of them, ``i64[3]``.
A struct packs keyword values to the bytes that ``mx_call.params`` points to.
"""

from mxcy.ops.core.params.array import *  # noqa: F403
from mxcy.ops.core.params.common import *  # noqa: F403
from mxcy.ops.core.params.int8 import *  # noqa: F403
from mxcy.ops.core.params.launch import *  # noqa: F403
from mxcy.ops.core.params.optimizer import *  # noqa: F403
from mxcy.ops.core.params.quantize import *  # noqa: F403
from mxcy.ops.core.struct_layout import STRUCTS, Params  # noqa: F401
