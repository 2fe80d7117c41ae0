"""`mx.util`: NumPy semantics per thread, and small services for libraries built on mxcy.

Each thread has three flags: shape (0-d and zero-size arrays are ordinary arrays, where they
otherwise mean "unknown"), array (blocks and data loaders make `mx.np` arrays) and dtype (`mx.np`
makes float64 as NumPy does).
"""

import contextlib
import functools
import inspect
import sys
import threading
from importlib import import_module

import numpy as np

from mxcy import context, env, profile
from mxcy._library import front
from mxcy._machine import threads as process_threads
from mxcy.base import MXNetError
from mxcy.numpy_parameters import (  # noqa: F401  they are at home here
    np_ufunc_legal_option,
    numpy_fallback,
    wrap_ctx_to_device_func,
    wrap_data_api_linalg_func,
    wrap_data_api_statical_func,
    wrap_np_binary_func,
    wrap_np_unary_func,
    wrap_sort_functions,
)

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


class _Flags(threading.local):
    shape_everywhere = False  # of all threads: set on the class alone
    _shape = False
    array = False

    @property
    def dtype(self):
        """The policy of element types, which the front keeps: operators ask for it."""
        return front.has_numpy_types()

    @dtype.setter
    def dtype(self, active):
        front.set_numpy_types(bool(active))

    @property
    def shape(self):
        return self._shape

    @shape.setter
    def shape(self, active):
        self._shape = active
        front.set_np_shape(active, self.shape_everywhere)  # where indexing finds it


_flags = _Flags()
_EVERY_THREAD = 2


class _Scope:
    """Sets one flag inside a with statement."""

    def __init__(self, flag, active):
        self._flag, self._active = flag, bool(active)
        self._before = []

    def __enter__(self):
        self._before.append(getattr(_flags, self._flag))
        setattr(_flags, self._flag, self._active)
        return self

    def __exit__(self, *error):
        setattr(_flags, self._flag, self._before.pop())


def _decorate(flags, target, decorator):
    """A function that runs with flags set, or a class whose methods and properties do."""
    if inspect.isclass(target):
        for name, member in [*_inherited(target), *vars(target).items()]:
            if isinstance(member, property):
                parts = (member.fget, member.fset, member.fdel)
                wrapped = [part and _decorate(flags, part, decorator) for part in parts]
                setattr(target, name, property(*wrapped, doc=member.__doc__))
            elif isinstance(member, (staticmethod, classmethod)):
                inner = _decorate(flags, member.__func__, decorator)
                # A static function that takes a `self` gets one: MXNet makes methods of all.
                stays = isinstance(member, classmethod) or _first_parameter(inner) != "self"
                setattr(target, name, type(member)(inner) if stays else inner)
            elif inspect.isfunction(member):
                setattr(target, name, _decorate(flags, member, decorator))
        return target
    if not callable(target) or not hasattr(target, "__name__"):
        raise TypeError(
            f"{decorator} can only decorate classes and callable objects, while received a "
            f"{type(target)}"
        )

    @functools.wraps(target)
    def run(*args, **kwargs):
        missing = [flag for flag in flags if not getattr(_flags, flag)]
        try:
            for flag in missing:
                setattr(_flags, flag, True)
            return target(*args, **kwargs)
        finally:
            for flag in missing:
                setattr(_flags, flag, False)

    return run


def _first_parameter(function):
    return next(iter(inspect.signature(function).parameters), None)


def _inherited(cls):
    """The methods that a class has of others and that programs call: names and functions."""
    found = {}
    for base in reversed(cls.__mro__[1:]):
        for name, member in vars(base).items():
            if name == "__call__" or not name.startswith("_"):
                found[name] = member
    own = vars(cls)
    return [(k, v) for k, v in found.items() if inspect.isfunction(v) and k not in own]


# --- shape ---------------------------------------------------------------------------------------


def is_np_shape():
    """Whether this thread uses NumPy's shapes: ``()`` is a scalar and 0 an extent like others."""
    return front.is_np_shape()


def set_np_shape(active):
    """Switch NumPy shape semantics.

    Parameters
    ----------
    active : bool or int
        2 switches them on for all threads, True for this one; False switches both off.

    Returns
    -------
    bool
        The previous state.

    Raises
    ------
    ValueError
        When they are switched off under NumPy array semantics, which need them.
    """
    if not active and is_np_array():
        raise ValueError(
            "set_np_shape: NumPy array semantics, which are active, need NumPy shape semantics; "
            "npx.reset_np() switches both off"
        )
    before = is_np_shape()
    everywhere = active == _EVERY_THREAD or (bool(active) and _Flags.shape_everywhere)
    _set_shape(bool(active), everywhere)
    return before


def _set_shape(active, everywhere):
    _Flags.shape_everywhere = everywhere
    _flags.shape = active


class _NumpyShapeScope:
    """A scope with NumPy shape semantics as `set_np_shape` sets them; None changes nothing."""

    def __init__(self, is_np_shape):
        self._active = is_np_shape
        self._before = []

    def __enter__(self):
        self._before.append((_flags.shape, _Flags.shape_everywhere))
        if self._active is not None:
            set_np_shape(self._active)
        return self

    def __exit__(self, *error):
        _set_shape(*self._before.pop())


def np_shape(active=True):
    """A scope with NumPy shape semantics switched on or off, as `set_np_shape` does."""
    return _NumpyShapeScope(active)


def use_np_shape(func):
    """Decorate a function or a class to run with NumPy shape semantics."""
    return _decorate(("shape",), func, "use_np_shape")


# --- array ---------------------------------------------------------------------------------------


def is_np_array():
    """Whether this thread's blocks and data loaders make `mx.np` arrays."""
    return _flags.array


class _NumpyArrayScope(_Scope):
    def __init__(self, is_np_array):
        super().__init__("array", is_np_array)
        self._is_np_array = self._active


def np_array(active=True):
    """A scope in which blocks and data loaders make `mx.np` arrays, or not."""
    return _NumpyArrayScope(active)


def use_np_array(func):
    """Decorate a function or a class to run with NumPy array semantics."""
    return _decorate(("array",), func, "use_np_array")


def use_np(func):
    """Decorate a function or a class to run with NumPy shape and array semantics."""
    return _decorate(("shape", "array"), func, "use_np")


# --- dtype ---------------------------------------------------------------------------------------


def is_np_default_dtype():
    """Whether `mx.np` functions of this thread make float64 where NumPy would."""
    return _flags.dtype


def set_np_default_dtype(is_np_default_dtype=True):
    """Switch NumPy's default dtypes for this thread; returns the previous state."""
    before, _flags.dtype = _flags.dtype, bool(is_np_default_dtype)
    return before


def np_default_dtype(active=True):
    """A scope with NumPy's default dtypes switched on or off."""
    return _Scope("dtype", active)


def use_np_default_dtype(func):
    """Decorate a function or a class to run with NumPy's default dtypes."""
    return _decorate(("dtype",), func, "use_np_default_dtype")


# --- all together --------------------------------------------------------------------------------


def set_np(shape=True, array=True, dtype=False):
    """Switch NumPy semantics for this thread.

    Raises
    ------
    ValueError
        When array semantics are asked for without shape semantics.
    """
    if array and not shape:
        raise ValueError("NumPy Shape semantics is required in using NumPy array semantics.")
    _flags.array, _flags.dtype = bool(array), bool(dtype)
    set_np_shape(shape)


def reset_np():
    """Switch all NumPy semantics off for this thread."""
    set_np(shape=False, array=False, dtype=False)


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
    _start_semantics()
    return before.name


def _start_semantics():
    """Switch to the semantics with which the profile, and a variable about types, let it start."""
    on = _decides_for_mxnet_2()
    set_np(shape=on, array=on, dtype=env.get("MXCY_NUMPY_TYPES"))
    _name_types()


def _decides_for_mxnet_2():
    return profile.is_mxnet_2()


def _name_types():
    """Have the names of element types in `mx.np` mean what they do in the profile's MXNet."""
    numpy = sys.modules.get("mxcy.numpy")  # it is imported when first asked for
    if numpy is not None:
        vars(numpy).update(numpy._types.types.named(_decides_for_mxnet_2()))


def default_array(source_array, device=None, dtype=None, ctx=None):
    """An array of `mx.np` where array semantics are on, else one of `mx.nd`."""
    ctx = device if ctx is None else ctx
    home = "mxcy.numpy" if is_np_array() else "mxcy.ndarray"
    return import_module(home).array(source_array, dtype=dtype, ctx=ctx)  # they use this module


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
        return np.float64 if _flags.dtype else np.float32
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
