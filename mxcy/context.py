"""Contexts: the device of an array, and the default device.

A context only names a device. Its properties (number of devices, free memory) come from the backend
registered by `serve_device`; the CPU needs none.
"""

import operator
import re
from collections.abc import Iterable

from mxcy._base.cpus import logical_processors
from mxcy._base.errors import UnknownChoiceError
from mxcy._base.listing import listing
from mxcy._base.per_thread import PerThread
from mxcy.base import MXNetError

__all__ = [
    "Context",
    "Device",
    "as_context",
    "as_contexts",
    "check_usable",
    "cpu",
    "cpu_pinned",
    "cpu_shared",
    "current_context",
    "current_device",
    "gpu",
    "gpu_memory_info",
    "memory_source",
    "num_cpus",
    "num_gpus",
    "serve_cache",
    "serve_device",
]

__dir__ = listing(__name__)

_NAMES = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
_CODES = {name: code for code, name in _NAMES.items()}
_GPU = _CODES["gpu"]
_SPECIAL_CPU = (_CODES["cpu_pinned"], _CODES["cpu_shared"])
_TEXT = re.compile(r"\s*(\w+)\s*(?:\(\s*(-?\d+)\s*\))?\s*")

#: device type -> its backend
_backends = {}
#: function that empties the memory pool of a context


class _ContextType(type):
    """Metaclass that makes `Context.default_ctx` a settable class property."""

    @property
    def default_ctx(cls):
        """The current thread's context."""
        return Context._default_ctx.value

    @default_ctx.setter
    def default_ctx(cls, ctx):
        Context._default_ctx.value = Context(ctx)


class Context(metaclass=_ContextType):
    """A device: its type and its number.

    Parameters
    ----------
    device_type : {'cpu', 'gpu', 'cpu_pinned', 'cpu_shared'} or Context
        A Context is copied, ignoring `device_id`.
    device_id : int, default 0
        The device number; for CPUs only a label.

    Raises
    ------
    MXNetError
        If the device type is unknown; also a KeyError.
    TypeError
        If `device_id` is not an integer.

    Notes
    -----
    A context may name a missing GPU; using it raises MXNetError.
    In a ``with`` statement a context becomes the current thread's default.
    """

    devtype2str = dict(_NAMES)
    devstr2type = dict(_CODES)
    _empty = None  # called by empty_cache; see `serve_cache`

    def __init__(self, device_type, device_id=0):
        if isinstance(device_type, Context):
            self.device_typeid = device_type.device_typeid
            self.device_id = device_type.device_id
            return
        code = _CODES.get(device_type) if isinstance(device_type, str) else None
        if code is None:
            raise UnknownChoiceError(
                f"Context: device_type must be one of {', '.join(_CODES)}, got {device_type!r}"
            )
        self.device_typeid = code
        self.device_id = operator.index(device_id)

    @property
    def device_type(self):
        """str: The device's type, such as ``'cpu'``."""
        return _NAMES[self.device_typeid]

    @property
    def default_ctx(self):
        """Context: The current thread's context."""
        return Context._default_ctx.value

    @property
    def home(self):
        """Context: context of the results of operators on arrays of this context.

        Only explicitly placed arrays use pinned or shared memory; results are on the CPU.
        """
        return Context("cpu", self.device_id) if self.device_typeid in _SPECIAL_CPU else self

    def __eq__(self, other):
        return (
            isinstance(other, Context)
            and self.device_typeid == other.device_typeid
            and self.device_id == other.device_id
        )

    def __hash__(self):
        return hash((self.device_typeid, self.device_id))

    def __str__(self):
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __enter__(self):
        Context._default_ctx.enter(self)
        return self

    def __exit__(self, *exc_info):
        Context._default_ctx.leave()

    def empty_cache(self):
        """Release the memory cached by this device's pool to the system."""
        check_usable(self)
        if Context._empty is not None:
            Context._empty(self)
        backend = _backends.get(self.device_type)
        if backend is not None:
            backend.empty_cache(self.device_id)


Context._default_ctx = PerThread(lambda: Context("cpu", 0))


def cpu(device_id=0):
    """Return a CPU context; `device_id` is only a label."""
    return Context("cpu", device_id)


def gpu(device_id=0):
    """Return the context of GPU number `device_id`."""
    return Context("gpu", device_id)


def cpu_pinned(device_id=0):
    """Return the context of pinned CPU memory, for fast copies to a GPU."""
    return Context("cpu_pinned", device_id)


def cpu_shared(device_id=0):
    """Return the context of CPU memory shared between processes."""
    return Context("cpu_shared", device_id)


def current_context():
    """Return the default context: of the innermost ``with`` statement, else ``cpu(0)``."""
    return Context._default_ctx.value


def as_context(value):
    """Convert a user's context specification to a Context.

    Parameters
    ----------
    value : Context, str or None
        ``'gpu(1)'``, ``'cpu'`` and so on; None means the current context.

    Raises
    ------
    MXNetError
        If the str names no device.
    TypeError
        If `value` has another type.
    """
    if isinstance(value, Context):
        return value
    if value is None:
        return Context._default_ctx.value
    if not isinstance(value, str):
        hint = ""
        if isinstance(value, (int, list, tuple)):  # zeros(2, 3), array([1, 2], [3, 4])
            hint = "; pass a shape as one tuple, rows as one nested list"
        raise TypeError(
            f"a context must be a Context, a str or None, not {type(value).__name__}{hint}"
        )
    match = _TEXT.fullmatch(value)
    if match is None or match[1] not in _CODES:
        raise MXNetError(f"{value!r} is not a context; expected a string such as 'cpu(0)'")
    return Context(match[1], int(match[2] or 0))


def as_contexts(value):
    """Convert one or several context specifications, see `as_context`, to a list of Context."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [as_context(each) for each in value]
    return [as_context(value)]


def serve_device(device_type, backend):
    """Register the backend of a device type.

    Parameters
    ----------
    device_type : str
        ``'cpu'``, ``'gpu'``...
    backend : object
        An object with methods ``count()``, ``memory_info(device_id)`` returning (free, total) in
        bytes,
        ``empty_cache(device_id)`` and ``memory_source(device_type, device_id)``.
    """
    _backends[device_type] = backend


def memory_source(ctx):
    """The memory source of a context's pool.

    Returns
    -------
    int
        The address of an ``mx_pool_source``, or 0 for host memory.
    """
    backend = _backends.get("gpu")
    return 0 if backend is None else backend.memory_source(ctx.device_type, ctx.device_id)


def num_cpus():
    """The number of logical processors that this process may run on."""
    return logical_processors()


def serve_cache(empty):
    """Register the function that `Context.empty_cache` calls with the context."""
    Context._empty = staticmethod(empty)


def num_gpus():
    """The number of GPUs on which mxcy can compute."""
    backend = _backends.get("gpu")
    return 0 if backend is None else backend.count()


def check_usable(ctx):
    """Raise MXNetError unless a context's device can hold arrays."""
    if ctx.device_typeid == _GPU and not 0 <= ctx.device_id < num_gpus():
        count = num_gpus()
        usable = f"only gpu(0) to gpu({count - 1})" if count else "no GPU; use mx.cpu()"
        raise MXNetError(f"{ctx} cannot be used: mxcy found {usable}")


def gpu_memory_info(device_id=0):
    """Return the free and total memory of a GPU.

    Returns
    -------
    tuple of int
        ``(free, total)`` in bytes.

    Raises
    ------
    MXNetError
        If mxcy cannot compute on that GPU.
    """
    check_usable(Context("gpu", device_id))
    return _backends["gpu"].memory_info(device_id)


Device, current_device = Context, current_context  # their names in MXNet 2
