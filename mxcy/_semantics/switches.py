"""Thread-local NumPy semantics: switches, scopes and decorators.

There are three switches: shape (0-d and zero-size arrays are ordinary arrays rather than
"unknown"), array (blocks and data loaders create `mx.np` arrays) and dtype (`mx.np` creates float64
arrays, like NumPy).
"""

import functools
import inspect
import threading

from mxcy import env, profile
from mxcy._library import front

__all__ = [
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "np_array",
    "np_default_dtype",
    "np_shape",
    "reset_np",
    "set_np",
    "set_np_default_dtype",
    "set_np_shape",
    "start",
    "use_np",
    "use_np_array",
    "use_np_default_dtype",
    "use_np_shape",
]


class _Flags(threading.local):
    shape_everywhere = False  # for all threads: set only on the class
    shape_scopes = 0  # depth of `np_shape` scopes
    _shape = False
    array = False

    @property
    def dtype(self):
        """The type rules, stored by the front, as operators depend on them."""
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
        front.set_np_shape(active, self.shape_everywhere)  # used by indexing


_flags = _Flags()
_EVERY_THREAD = 2


class _Scope:
    """Sets one flag within a with statement."""

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
    """Wrap a function to run with flags set, or a class's methods and properties."""
    if inspect.isclass(target):
        for name, member in [*_inherited(target), *vars(target).items()]:
            if isinstance(member, property):
                parts = (member.fget, member.fset, member.fdel)
                wrapped = [part and _decorate(flags, part, decorator) for part in parts]
                setattr(target, name, property(*wrapped, doc=member.__doc__))
            elif isinstance(member, (staticmethod, classmethod)):
                inner = _decorate(flags, member.__func__, decorator)
                # Static functions become methods too, as in MXNet.
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
    """The inherited public methods of a class, as (name, function)."""
    members = {}
    for base in reversed(cls.__mro__[1:]):
        for name, member in vars(base).items():
            if name == "__call__" or not name.startswith("_"):
                members[name] = member
    own = vars(cls)
    return [(k, v) for k, v in members.items() if inspect.isfunction(v) and k not in own]


# --- shape ---------------------------------------------------------------------------------------


def is_np_shape():
    """Whether this thread uses NumPy shape semantics: ``()`` is a scalar, 0 a valid size."""
    return front.is_np_shape()


def set_np_shape(active):
    """Switch NumPy shape semantics.

    Parameters
    ----------
    active : bool or int
        2 enables them for all threads, True for this one; False disables both.

    Returns
    -------
    bool
        The previous state.

    Raises
    ------
    ValueError
        If they are disabled under NumPy array semantics, which require them.
    """
    if not active and is_np_array():
        raise ValueError(
            "set_np_shape: the active NumPy array semantics require NumPy shape semantics; "
            "npx.reset_np() disables both"
        )
    before = is_np_shape()
    everywhere = active == _EVERY_THREAD or (bool(active) and _Flags.shape_everywhere)
    _set_shape(bool(active), everywhere)
    return before


def _set_shape(active, everywhere):
    _Flags.shape_everywhere = everywhere
    _flags.shape = active


class _NumpyShapeScope:
    """A scope with NumPy shape semantics as by `set_np_shape`; None changes nothing."""

    def __init__(self, is_np_shape):
        self._active = is_np_shape
        self._before = []

    def __enter__(self):
        self._before.append((_flags.shape, _Flags.shape_everywhere, _flags.shape_scopes))
        if self._active is not None:
            set_np_shape(self._active)
            _flags.shape_scopes += 1
        return self

    def __exit__(self, *error):
        *before, _flags.shape_scopes = self._before.pop()
        _set_shape(*before)


def np_shape(active=True):
    """A scope with NumPy shape semantics on or off, as by `set_np_shape`."""
    return _NumpyShapeScope(active)


def np_shape_of_scope():
    """The shape semantics that an enclosing `np_shape` scope demands; None without a scope."""
    return is_np_shape() if _flags.shape_scopes else None


def use_np_shape(func):
    """Decorate a function or a class to run with NumPy shape semantics."""
    return _decorate(("shape",), func, "use_np_shape")


# --- array ---------------------------------------------------------------------------------------


def is_np_array():
    """Whether this thread's blocks and data loaders create `mx.np` arrays."""
    return _flags.array


class _NumpyArrayScope(_Scope):
    def __init__(self, is_np_array):
        super().__init__("array", is_np_array)
        self._is_np_array = self._active


def np_array(active=True):
    """A scope in which blocks and data loaders create `mx.np` arrays, or not."""
    return _NumpyArrayScope(active)


def use_np_array(func):
    """Decorate a function or a class to run with NumPy array semantics."""
    return _decorate(("array",), func, "use_np_array")


def use_np(func):
    """Decorate a function or a class to run with NumPy shape and array semantics."""
    return _decorate(("shape", "array"), func, "use_np")


# --- dtype ---------------------------------------------------------------------------------------


def is_np_default_dtype():
    """Whether this thread's `mx.np` functions use NumPy's default dtypes."""
    return _flags.dtype


def set_np_default_dtype(is_np_default_dtype=True):
    """Switch NumPy's default dtypes for this thread; return the previous state."""
    before, _flags.dtype = _flags.dtype, bool(is_np_default_dtype)
    return before


def np_default_dtype(active=True):
    """A scope with NumPy's default dtypes on or off."""
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
        If array semantics are requested without shape semantics.
    """
    if array and not shape:
        raise ValueError("NumPy Shape semantics is required in using NumPy array semantics.")
    _flags.array, _flags.dtype = bool(array), bool(dtype)
    set_np_shape(shape)


def reset_np():
    """Disable all NumPy semantics for this thread."""
    set_np(shape=False, array=False, dtype=False)


def start():
    """Set the initial semantics determined by the profile and environment variables."""
    mxnet_2 = profile.is_mxnet_2()
    set_np(shape=mxnet_2, array=mxnet_2, dtype=env.get("MXCY_NUMPY_TYPES"))
