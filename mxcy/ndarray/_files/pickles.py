"""Restricted unpickling: arrays, plain data and objects of given classes.

A file from elsewhere must not run arbitrary code, so names are resolved from a short list, with
MXNet's names mapped to classes here. `pickle_machine` ensures that no class or unfinished object
gets into a container or to the caller.
"""

import collections
import math
import re
import sys

import numpy as np

from mxcy import context
from mxcy.base import MXNetError
from mxcy.ndarray._files.pickle_machine import Draft, Machine, Name, refuse
from mxcy.ndarray.ndarray import NDArray
from mxcy.ndarray.sparse.csr import CSRNDArray
from mxcy.ndarray.sparse.row_sparse import RowSparseNDArray
from mxcy.ndarray.state import blank

__all__ = ["loads"]


def loads(data, classes=(), name="<pickle>"):
    """Unpickle plain data, arrays, contexts and objects of given classes.

    Parameters
    ----------
    data : bytes
        A pickle, written here or by real MXNet.
    classes : tuple of type
        Classes, with subclasses, whose objects are allowed too. MXNet's classes are replaced by
        mxcy's of the same name; those of the user's program must have been imported.
    name : str
        Name of the pickle in error messages.

    Returns
    -------
    object

    Raises
    ------
    MXNetError
        If the pickle is damaged or contains anything else.
    """
    loader = _Loader(data, classes)
    try:
        return loader.run()
    except Exception as error:  # a damaged pickle can raise anything
        text = error if isinstance(error, MXNetError) else repr(error)
        raise MXNetError(
            f"{name}: not a valid pickle: at byte {loader.position}: {text}"
        ) from error
    finally:
        vars(loader).clear()  # break reference cycles that keep all its objects alive


# --- names ----------------------------------------------------------------------------------------


class _Function(Name):
    """A name that calls a function."""

    __slots__ = ("function", "takes_names")

    def __init__(self, label, function, takes_names=False):
        super().__init__(label)
        self.function, self.takes_names = function, takes_names

    def call(self, *arguments):
        return self.function(*arguments)


class _ArrayClass(Name):
    """NDArray or a subclass: MXNet's pickles call it with None, ours pass it to `blank`."""

    __slots__ = ("cls", "spend")

    def __init__(self, label, cls, spend):
        super().__init__(label)
        self.cls, self.spend = cls, spend

    def call(self, handle=None):
        if handle is not None:
            raise refuse(f"{self.label} of {handle!r}")
        return Draft(self._finish)

    def _finish(self, state):
        content = state["handle"] if isinstance(state, dict) else state
        if isinstance(content, (str, bytes, bytearray)):
            self.spend(len(content))
        array = blank(self.cls)
        array.__setstate__(state)
        return array


class _ContextClass(Name):
    """`mx.Context`, whose state is checked as its constructor does."""

    __slots__ = ()

    def new(self):
        return Draft(_context)


class _ObjectClass(Name):
    """A class allowed by the caller."""

    __slots__ = ("cls", "loader")

    def __init__(self, label, cls, loader):
        super().__init__(label)
        self.cls, self.loader = cls, loader

    def call(self, *arguments):
        return self.loader.made_by(self, self.cls(*arguments))

    def new(self, *arguments):
        return self.loader.made_by(self, self.cls.__new__(self.cls, *arguments))

    def build(self, instance, state):
        if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
            raise refuse(f"the attributes of {self.label} must be a dict with names")
        for name in state:
            if callable(getattr(self.cls, name, None)) and not callable(state[name]):
                raise refuse(f"{self.label}.{name} is a method, but the pickle sets it")
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        else:
            vars(instance).update(state)


# --- values ---------------------------------------------------------------------------------------


def _context(state):
    code, number = state["device_typeid"], state["device_id"]
    if type(number) is not int:
        raise refuse(f"a context with the state {state}")
    return context.Context(context.Context.devtype2str[code], number)


def _bytes(content=b"", encoding="latin1"):
    # bytes() itself would accept an int and allocate that much memory.
    if not isinstance(content, (bytes, bytearray)):
        content = _encode(content, encoding)
    return bytes(content)


def _encode(text, encoding="latin1"):
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8"):
        raise refuse(f"text to encode as {encoding!r}")
    return text.encode(encoding)


def _dtype(text, align=False, copy=False):
    """A numeric dtype, whose state may only set the byte order."""
    if not re.fullmatch("[<>=|]?(b1|[iu][1248]|f[248]|[?bBhHiIlLqQefd])", text):
        raise refuse(f"elements of type {text!r}")
    return Draft(lambda state: np.dtype(text).newbyteorder(state[1]))


def _numbers(content, dtype, shape, order):
    """A NumPy array; allocates no more than the bytes in the pickle."""
    if not isinstance(dtype, np.dtype) or not isinstance(content, (bytes, bytearray)):
        raise refuse("a NumPy array that does not hold numbers")
    if not all(type(dim) is int and dim >= 0 for dim in shape):
        raise refuse(f"a NumPy array of shape {shape}")
    if math.prod(shape) * dtype.itemsize != len(content):
        raise refuse(f"{len(content)} bytes for an array of shape {shape} and type {dtype}")
    return np.frombuffer(content, dtype).reshape(shape, order=order).copy(order)


def _number(dtype, content):
    if not isinstance(dtype, np.dtype):
        raise refuse(f"a number of type {dtype!r}")
    return np.frombuffer(_bytes(content), dtype, 1)[0]


def _never_called(*arguments):
    """Reject a call of `object` or `ndarray`, which may only be arguments."""
    raise refuse("a call of a class that may only be named")


def _complex(real, imag):
    return complex(float(real), float(imag))


def _array_of_class(cls):
    """Counterpart of `mxcy.ndarray.state.blank`."""
    if not isinstance(cls, _ArrayClass):
        raise refuse(f"an array of {cls!r}")
    return cls.call()


def _object(cls, base, state):
    """Create an object as in protocols 0 and 1."""
    if not isinstance(cls, Name) or not isinstance(base, Name) or base.label != "object":
        raise refuse(f"an object of type {base!r}")
    if state is not None:
        raise refuse(f"an object made of {state!r}")
    return cls.new()


_NUMBER_TYPES = {t.__name__: t for t in {np.dtype(code).type for code in "?bBhHiIlLqQefd"}}


class _Loader(Machine):
    """A machine that resolves the allowed names."""

    def __init__(self, data, classes):
        super().__init__(data)
        self._classes = classes
        builtins = {
            "bytearray": lambda *of: bytearray(self._copied(_bytes(*of))),
            "bytes": lambda *of: self._copied(_bytes(*of)),
            "complex": _complex,
            "frozenset": lambda items=(): frozenset(map(self.key, items)),
            "object": _never_called,
            "set": lambda items=(): set(map(self.key, items)),
            "slice": slice,
        }
        copyreg = {"_reconstructor": _object}
        self._python = {
            "builtins": builtins,
            "__builtin__": builtins,
            "collections": {"OrderedDict": self._ordered_dict},
            "copyreg": copyreg,
            "copy_reg": copyreg,
            "_codecs": {"encode": lambda *of: self._copied(_encode(*of))},
        }
        self._numpy = {
            "_frombuffer": lambda *of: self._copied(_numbers(*of)),
            "_reconstruct": self._empty_array,
            "dtype": _dtype,
            "ndarray": _never_called,
            "scalar": _number,
        }

    def is_key(self, value):
        return isinstance(value, (np.generic, context.Context))

    def find(self, module, name):
        label = f"{module}.{name}"
        package = module.partition(".")[0]
        if package == "numpy" and name in _NUMBER_TYPES:
            return _NUMBER_TYPES[name]
        function = self._python.get(module, {}).get(name)
        if function is None and package == "numpy":
            function = self._numpy.get(name)
        if function is not None:
            plain = name if name == "object" else label
            return _Function(plain, function, name in ("_reconstruct", "_reconstructor"))
        if (module, name) == (blank.__module__, blank.__name__):
            return _Function(label, _array_of_class, takes_names=True)
        return self._class(label, module, name) or super().find(module, name)

    def _class(self, label, module, name):
        """Resolve a class: MXNet's by its name, others if their module is imported."""
        if module.partition(".")[0] == "mxnet":
            cls = _MXNET.get(name) or self._namesake(name)
        else:
            cls = vars(sys.modules.get(module, object)).get(name)
        if not isinstance(cls, type):
            return None
        if issubclass(cls, NDArray):
            return _ArrayClass(label, cls, self.spend)
        if cls is context.Context:
            return _ContextClass(label)
        return _ObjectClass(label, cls, self) if issubclass(cls, tuple(self._classes)) else None

    def _namesake(self, name):
        """The allowed class of mxcy with the name of one of MXNet's."""
        waiting = list(self._classes)
        while waiting:
            cls = waiting.pop()
            if cls.__name__ == name and cls.__module__.partition(".")[0] == "mxcy":
                return cls
            waiting += cls.__subclasses__()
        return None

    def _ordered_dict(self, pairs=()):
        return collections.OrderedDict((self.key(key), value) for key, value in pairs)

    def _empty_array(self, cls, shape, kind):
        """An empty array that gets its content from its state."""

        def finish(state):
            _, shape, dtype, fortran, content = state
            array = self._copied(_numbers(content, dtype, shape, "F" if fortran else "C"))
            return array.astype(array.dtype.newbyteorder("="), copy=False)  # as NumPy does

        return Draft(finish)

    def _copied(self, content):
        self.spend(getattr(content, "nbytes", None) or len(content))
        return content


_MXNET = {
    "CSRNDArray": CSRNDArray,
    "Context": context.Context,
    "Device": context.Context,
    "NDArray": NDArray,
    "RowSparseNDArray": RowSparseNDArray,
    "ndarray": NDArray,
}
