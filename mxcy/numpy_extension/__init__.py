"""`mx.npx`: extensions of `mx.np` beyond NumPy: neural network layers, switches, devices, files.

Functions backed by an operator are created from its record on first access.
"""

from mxcy.context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus  # noqa: F401
from mxcy.context import Context as Device  # noqa: F401
from mxcy.context import current_context as current_device  # noqa: F401
from mxcy.ndarray import waitall  # noqa: F401
from mxcy.ndarray._exchange.dlpack import to_dlpack_for_read, to_dlpack_for_write  # noqa: F401
from mxcy.numpy import register
from mxcy.numpy._arrays.exchange import from_dlpack, from_numpy  # noqa: F401
from mxcy.numpy_extension import image, random  # noqa: F401
from mxcy.numpy_extension.control_flow import cond, foreach, while_loop  # noqa: F401
from mxcy.numpy_extension.files import load, save, savez  # noqa: F401
from mxcy.numpy_extension.layers import fully_connected  # noqa: F401
from mxcy.random import seed  # noqa: F401
from mxcy.util import (  # noqa: F401
    get_cuda_compute_capability,
    is_np_array,
    is_np_default_dtype,
    is_np_shape,
    reset_np,
    set_np,
    set_np_default_dtype,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_default_dtype,
    use_np_shape,
)

__getattr__, __dir__ = register.offer(__name__, "npx")
