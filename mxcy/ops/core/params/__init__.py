"""Parameter structs that kernels receive, declared once for C, Cython and Python.

Each module has a kernel family's structs, which generate a header ``kernels/params/<family>.gen.h``
by ``python -m tools.params --write``; a test checks that it is up to date. A kernel includes only
its own family's header, so it is not recompiled when others change.

A field is ``name=ctype`` with ctype ``i32``, ``i64``, ``f64`` or an array of them, ``i64[3]``.
A struct packs keyword values into the bytes at ``mx_call.params``.
"""

from mxcy.ops.core.params.activation import *  # noqa: F403
from mxcy.ops.core.params.attention import *  # noqa: F403
from mxcy.ops.core.params.convolution import *  # noqa: F403
from mxcy.ops.core.params.detection import *  # noqa: F403
from mxcy.ops.core.params.elementwise import *  # noqa: F403
from mxcy.ops.core.params.fused import *  # noqa: F403
from mxcy.ops.core.params.image import *  # noqa: F403
from mxcy.ops.core.params.indexing import *  # noqa: F403
from mxcy.ops.core.params.int8 import *  # noqa: F403
from mxcy.ops.core.params.launch import *  # noqa: F403
from mxcy.ops.core.params.loss import *  # noqa: F403
from mxcy.ops.core.params.matrix import *  # noqa: F403
from mxcy.ops.core.params.norm import *  # noqa: F403
from mxcy.ops.core.params.optimizer import *  # noqa: F403
from mxcy.ops.core.params.pooling import *  # noqa: F403
from mxcy.ops.core.params.quantization import *  # noqa: F403
from mxcy.ops.core.params.random import *  # noqa: F403
from mxcy.ops.core.params.recurrent import *  # noqa: F403
from mxcy.ops.core.params.reduce import *  # noqa: F403
from mxcy.ops.core.params.shape import *  # noqa: F403
from mxcy.ops.core.params.sparse import *  # noqa: F403
from mxcy.ops.core.struct_layout import STRUCTS, Params  # noqa: F401
