"""`mx.util`: NumPy semantics per thread, and utilities for libraries built on mxcy."""

import contextlib
import functools
import types

import numpy as np

from mxcy import context, env, ndarray, profile
from mxcy._base.listing import listing
from mxcy._library import front
from mxcy._machine import threads as process_threads
from mxcy._semantics import switches
from mxcy._semantics.parameters import (
    np_ufunc_legal_option,
    wrap_ctx_to_device_func,
    wrap_data_api_linalg_func,
    wrap_data_api_statical_func,
    wrap_np_binary_func,
    wrap_np_unary_func,
    wrap_sort_functions,
)
from mxcy._semantics.switches import (
    _NumpyArrayScope,  # noqa: F401  MXNet's name too
    _NumpyShapeScope,  # noqa: F401
    is_np_array,
    is_np_default_dtype,
    is_np_shape,
    np_array,
    np_default_dtype,
    np_shape,
    reset_np,
    set_np,
    set_np_default_dtype,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_default_dtype,
    use_np_shape,
)
from mxcy.base import MXNetError

__all__ = [
    "TemporaryDirectory",
    "default_array",
    "dtype_from_number",
    "get_cuda_compute_capability",
    "get_gpu_count",
    "get_gpu_memory",
    "get_max_supported_compute_capability",
    "get_num_threads",
    "get_rtc_compile_opts",
    "getenv",
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "np_array",
    "np_default_dtype",
    "np_shape",
    "np_ufunc_legal_option",
    "numpy_fallback",
    "reset_np",
    "set_flush_denorms",
    "set_module",
    "set_np",
    "set_np_default_dtype",
    "set_np_shape",
    "set_num_threads",
    "set_profile",
    "setenv",
    "use_np",
    "use_np_array",
    "use_np_default_dtype",
    "use_np_shape",
    "wrap_ctx_to_device_func",
    "wrap_data_api_linalg_func",
    "wrap_data_api_statical_func",
    "wrap_np_binary_func",
    "wrap_np_unary_func",
    "wrap_sort_functions",
]

__dir__ = listing(__name__)


def set_profile(version):
    """Set the MXNet generation to follow where 1.x and 2.x differ.

    Call it before creating networks. It also sets the NumPy semantics of this thread to the default
    of that generation: on for "2.0".

    Parameters
    ----------
    version : {'1.9', '2.0'}
        The generation, or a release of it such as ``'2.0.0'``.

    Returns
    -------
    str
        The previous profile.

    Raises
    ------
    ValueError
        If there is no such generation.
    """
    before = profile.set_current(version, "mx.util.set_profile")
    switches.start()
    return before.name


def default_array(source_array, device=None, dtype=None, ctx=None):
    """Make an array of `mx.np` if NumPy array semantics are on, else of `mx.nd`."""
    ctx, home = device if ctx is None else ctx, ndarray
    if is_np_array():
        from mxcy import numpy as home  # imported lazily
    return home.array(source_array, dtype=dtype, ctx=ctx)


def numpy_fallback(func):
    """Decorate a function written with `mx.np` to be computed by NumPy on copies.

    Names in the function that refer to `mx.np` refer to NumPy. It has no gradient.

    Parameters
    ----------
    func : callable
        A function that returns a value.
    """
    from mxcy import numpy as home  # imported lazily
    from mxcy.numpy._calls import by_numpy as copies

    def official(names):
        return {name: np if value is home else value for name, value in names.items()}

    @functools.wraps(func)
    def run(*args, **kwargs):
        cells = func.__closure__ and tuple(
            types.CellType(np if cell.cell_contents is home else cell.cell_contents)
            for cell in func.__closure__
        )
        by_numpy = types.FunctionType(
            func.__code__, official(func.__globals__), func.__name__, func.__defaults__, cells
        )
        by_numpy.__kwdefaults__ = func.__kwdefaults__
        result = by_numpy(*copies.as_onp(args), **copies.as_onp(kwargs))
        if result is None:
            raise ValueError(f"{func.__name__} returned None; numpy_fallback needs a value")
        return copies.as_mx(result)

    return run


@contextlib.contextmanager
def TemporaryDirectory(*args, **kwargs):  # noqa: N802  its public name
    """A folder that exists during a with statement; parameters as for `tempfile`'s."""
    import tempfile  # slow to import

    with tempfile.TemporaryDirectory(*args, **kwargs) as folder:
        yield folder


def dtype_from_number(number):
    """Return the dtype of an `mx.np` array made from a Python number.

    Raises
    ------
    TypeError
        If `number` is not an int or float.
    """
    if isinstance(number, (int, np.integer)):
        return np.int64
    if isinstance(number, (float, np.floating)):
        return np.float64 if is_np_default_dtype() else np.float32
    raise TypeError(f"dtype_from_number: expected an integer or a float, got {number!r}")


def set_module(module):
    """Decorate a function to set its ``__module__`` to the public module."""

    def decorate(func):
        if module is not None:
            func.__module__ = module
        return func

    return decorate


# --- devices and environment ---------------------------------------------------------------------


def get_gpu_count():
    """Return the number of GPUs on which mxcy can compute."""
    return context.num_gpus()


def get_gpu_memory(gpu_dev_id):
    """Return the free and total memory of a GPU in bytes; MXNetError if it is unusable."""
    return context.gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx):
    """Return the CUDA architecture of a GPU, such as 70 for 7.0.

    Raises
    ------
    ValueError
        If the context is not a GPU.
    MXNetError
        If it is not a CUDA device: virtual devices use host memory.
    """
    if ctx.device_type != "gpu":
        raise ValueError(f"get_cuda_compute_capability: expected a GPU context, got {ctx}")
    context.check_usable(ctx)
    raise MXNetError(f"get_cuda_compute_capability: {ctx} is not a CUDA device")


def get_max_supported_compute_capability():
    """Raise an error: kernels cannot be compiled for any GPU architecture.

    Raises
    ------
    MXNetError
        Always: mxcy has no CUDA compiler.
    """
    raise MXNetError("kernels cannot be compiled at run time: mxcy has no CUDA compiler")


def get_rtc_compile_opts(device):
    """Raise an MXNetError: kernels cannot be compiled at run time."""
    get_max_supported_compute_capability()


def getenv(name):
    """Return the value of an environment variable as str, or None."""
    return env.raw(name)


def setenv(name, value):
    """Set an environment variable to a str; None removes it."""
    env.set_raw(name, None if value is None else str(value))


def set_flush_denorms(value):
    """Flush denormal numbers to zero, which can be faster.

    Affects the calling thread and the computing threads; initially off.

    Parameters
    ----------
    value : bool

    Returns
    -------
    bool
        The previous state.
    """
    return front.flush_denormals(value)


def get_num_threads():
    """Return the number of threads of operators worth more than one."""
    return front.get_threads()


def set_num_threads(threads):
    """Set the number of threads of operators worth more than one.

    Pools of other BLAS and OpenMP libraries in the process are limited to the same number.

    Parameters
    ----------
    threads : int
        Positive; initially OMP_NUM_THREADS or the number of usable physical cores.

    Returns
    -------
    int
        The previous number.
    """
    before = front.set_threads(threads)
    process_threads.limit_pools(threads)
    return before
