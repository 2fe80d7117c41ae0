"""`mx.util`: NumPy semantics per thread, and small services for libraries built on mxcy."""

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
    """Choose the generation of MXNet that decides where 1.x and 2.x disagree.

    It is to be called before networks are made. NumPy semantics of this thread become those with
    which that generation starts, on for "2.0".

    Parameters
    ----------
    version : {'1.9', '2.0'}
        The generation, or a release of it such as ``'2.0.0'``.

    Returns
    -------
    str
        The profile before.

    Raises
    ------
    ValueError
        When there is no such generation.
    """
    before = profile.set_current(version, "mx.util.set_profile")
    switches.start()
    return before.name


def default_array(source_array, device=None, dtype=None, ctx=None):
    """An array of `mx.np` where array semantics are on, else one of `mx.nd`."""
    ctx, home = device if ctx is None else ctx, ndarray
    if is_np_array():
        from mxcy import numpy as home  # it is imported when first asked for
    return home.array(source_array, dtype=dtype, ctx=ctx)


def numpy_fallback(func):
    """Decorate a function written with `mx.np` to be computed by NumPy, on copies of the elements.

    In the function, names that stand for `mx.np` stand for NumPy. No gradient flows through it.

    Parameters
    ----------
    func : callable
        It returns something.
    """
    from mxcy import numpy as home  # it is imported when first asked for
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
            raise ValueError(f"{func.__name__} returned nothing, which numpy_fallback cannot use")
        return copies.as_mx(result)

    return run


@contextlib.contextmanager
def TemporaryDirectory(*args, **kwargs):  # noqa: N802  its public name
    """A folder that is there inside a with statement; parameters are those of `tempfile`'s."""
    import tempfile  # takes longer than most of mxcy's modules

    with tempfile.TemporaryDirectory(*args, **kwargs) as folder:
        yield folder


def dtype_from_number(number):
    """The NumPy type that `mx.np` gives an array made of a Python number.

    Raises
    ------
    TypeError
        When `number` is not a number.
    """
    if isinstance(number, (int, np.integer)):
        return np.int64
    if isinstance(number, (float, np.floating)):
        return np.float64 if is_np_default_dtype() else np.float32
    raise TypeError(f"dtype_from_number: expected an integer or a float, got {number!r}")


def set_module(module):
    """A decorator that sets ``__module__``, so that a function shows its public home."""

    def decorate(func):
        if module is not None:
            func.__module__ = module
        return func

    return decorate


# --- devices and environment ---------------------------------------------------------------------


def get_gpu_count():
    """The number of GPUs on which mxcy can compute."""
    return context.num_gpus()


def get_gpu_memory(gpu_dev_id):
    """The free and the total memory of a GPU in bytes; MXNetError when it cannot be used."""
    return context.gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx):
    """The CUDA architecture of a GPU, such as 70 for 7.0.

    Raises
    ------
    ValueError
        When the context is not one of GPUs.
    MXNetError
        When no CUDA device is behind it: virtual devices are in host memory.
    """
    if ctx.device_type != "gpu":
        raise ValueError(f"get_cuda_compute_capability: expected a GPU's context, got {ctx}")
    context.check_usable(ctx)
    raise MXNetError(f"get_cuda_compute_capability: {ctx} is not a CUDA device")


def get_max_supported_compute_capability():
    """The newest GPU architecture for which kernels can be compiled at run time.

    Raises
    ------
    MXNetError
        Always: mxcy has no compiler of CUDA.
    """
    raise MXNetError("kernels cannot be compiled at run time: mxcy has no compiler of CUDA")


def get_rtc_compile_opts(device):
    """The options with which kernels for a GPU would be compiled at run time; MXNetError."""
    get_max_supported_compute_capability()


def getenv(name):
    """The text of an environment variable, None when it is not set."""
    return env.raw(name)


def setenv(name, value):
    """Set the text of an environment variable; None removes it."""
    env.set_raw(name, None if value is None else str(value))


def set_flush_denorms(value):
    """Have denormal numbers, the smallest there are, count as zero, which can be faster.

    It changes the calling thread and the threads that compute; at the start they do not.

    Parameters
    ----------
    value : bool

    Returns
    -------
    bool
        The state before.
    """
    return front.flush_denormals(value)


def get_num_threads():
    """How many threads an operator uses when it is worth more than one."""
    return front.get_threads()


def set_num_threads(threads):
    """Set how many threads an operator uses when it is worth more than one.

    The pools of other BLAS and OpenMP libraries in the process get at most as many.

    Parameters
    ----------
    threads : int
        Positive; at the start it is OMP_NUM_THREADS, or the number of usable physical cores.

    Returns
    -------
    int
        The number before.
    """
    before = front.set_threads(threads)
    process_threads.limit_pools(threads)
    return before
