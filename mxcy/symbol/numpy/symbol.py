"""The symbol with NumPy's operators, methods and indexing."""

import sys
from numbers import Real

import numpy as onp

from mxcy._base import dtypes
from mxcy.base import NotImplementedForSymbol, integer_types
from mxcy.ndarray.fluent import is_method
from mxcy.numpy._arrays.methods import FunctionMethod, Hidden
from mxcy.numpy._arrays.ndarray import METHODS
from mxcy.numpy._calls import general
from mxcy.ops.core.record import REGISTRY
from mxcy.symbol.symbol import Group, Symbol

__all__ = ["_Symbol"]

_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "mod",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "lt": "less",
    "le": "less_equal",
}
_ONE_WAY = ("eq", "ne", "gt", "ge", "lt", "le")
_UNARY = {
    "neg": "negative",
    "pos": "positive",
    "abs": "absolute",
    "invert": "bitwise_not",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
}


def _function(name):
    return getattr(sys.modules[__package__], name)


class _Symbol(Symbol):
    """One or several outputs of a graph, with NumPy's operators, methods and indexing.

    Created by functions of `mx.sym.np`, or from other symbols by `as_np_ndarray`.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == creates a symbol
    _is_numpy = True
    _functions_of = __package__

    # --- a sequence of outputs, or an array ------------------------------------------------------

    def __len__(self):
        if self.num_outputs == 1:
            raise TypeError(f"{self!r} is a single array whose length is not known yet")
        return self.num_outputs

    def __iter__(self):
        if self.num_outputs == 1:
            raise TypeError(f"{self!r} is a single array whose length is not known yet")
        return (type(self)([entry]) for entry in self._entries)

    def __getitem__(self, key):
        """Select one or a slice of several outputs; index into a single output.

        Parameters
        ----------
        key : int, slice, None, Ellipsis at the end, symbol, or a tuple of them
        """
        if self.num_outputs == 1:
            return _read(self, key)
        if isinstance(key, str):
            return super().__getitem__(key)
        if isinstance(key, slice):
            return Group([type(self)([entry]) for entry in self._entries[key]], type(self))
        if not isinstance(key, integer_types):
            raise TypeError(f"outputs are selected by integers or slices, not {type(key)}")
        if not -self.num_outputs <= key < self.num_outputs:
            raise IndexError("list index out of range")
        return type(self)([self._entries[key]])

    def __setitem__(self, key, value):
        raise NotImplementedForSymbol(self.__setitem__, None, key, value)

    # --- classes ---------------------------------------------------------------------------------

    def as_np_ndarray(self):
        """Return the symbol itself."""
        return self

    def as_nd_ndarray(self):
        """Return a symbol of `mx.sym` with the same outputs.

        Returns
        -------
        Symbol
        """
        return Symbol(self._entries)

    as_classic_symbol = as_nd_ndarray

    # --- methods of numpy.ndarray ----------------------------------------------------------------

    @property
    def T(self):
        """Symbol: the array with its axes in reverse order."""
        return self.transpose()

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """Cast the array to another dtype.

        Parameters
        ----------
        dtype : dtype
        order : {'C', 'A', 'K'}
        casting : {'unsafe'}
        subok, copy : bool
            Must be True.

        Returns
        -------
        Symbol
        """
        if order == "F" or casting != "unsafe" or not subok or not copy:
            raise ValueError(
                "astype: only the defaults of order, casting, subok and copy are supported"
            )
        return general.operate("Cast", self, dtype=dtypes.name_of(dtypes.code_of(dtype)))

    def reshape(self, *shape, order="C"):
        """Reshape the array; one dimension may be -1, to be inferred."""
        if len(shape) == 1:
            (shape,) = shape
        return _function("reshape")(self, shape, order=order)

    def transpose(self, *axes):
        """Permute the axes, by default in reverse order."""
        if len(axes) == 1 and (axes[0] is None or not isinstance(axes[0], integer_types)):
            (axes,) = axes
        return _function("transpose")(self, axes or None)

    def flatten(self, order="C"):
        """Flatten the array."""
        return _function("ravel")(self, order)

    def broadcast_like(self, other):
        """Broadcast the array to the shape of another one."""
        return general.operate("broadcast_like", self, other)

    def __round__(self, ndigits=None):
        return _function("round")(self, ndigits or 0)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self


def _binary(function):
    """Make the special methods of an operator, normal and reflected."""

    def left(self, other):
        if not isinstance(other, (Symbol, Real, onp.generic)):
            return NotImplemented
        return _function(function)(self, other)

    def right(self, other):
        if not isinstance(other, (Symbol, Real, onp.generic)):
            return NotImplemented
        return _function(function)(other, self)

    return left, right


def _unary(function):
    return lambda self: _function(function)(self)


def _refused(name):
    def refuse(self, other):
        raise NotImplementedForSymbol(getattr(self, name), None, self, other)

    return refuse


def _add_methods():
    """Add operators, and the methods of arrays of `mx.np`, to the class."""
    for word, name in _OPERATORS.items():
        left, right = _binary(name)
        setattr(_Symbol, f"__{word}__", left)
        if word not in _ONE_WAY:
            setattr(_Symbol, f"__r{word}__", right)
            setattr(_Symbol, f"__i{word}__", _refused(f"__i{word}__"))
    for word, name in _UNARY.items():
        setattr(_Symbol, f"__{word}__", _unary(name))
    _Symbol.__div__, _Symbol.__rdiv__ = _Symbol.__truediv__, _Symbol.__rtruediv__
    _Symbol.__idiv__ = _Symbol.__itruediv__
    for name in METHODS:
        method = FunctionMethod()
        setattr(_Symbol, name, method)
        method.__set_name__(_Symbol, name)
    for name in {*vars(Symbol), *REGISTRY}:
        hidden = name in REGISTRY and is_method(name, REGISTRY[name]) and hasattr(Symbol, name)
        if hidden and name not in vars(_Symbol):
            setattr(_Symbol, name, Hidden(name))


_add_methods()


# --- indexing ------------------------------------------------------------------------------------


def _read(array, key):
    """Evaluate ``array[key]``."""
    entries = key if isinstance(key, tuple) else (key,)
    if entries and all(isinstance(entry, Symbol) for entry in entries):
        if len(entries) == 1:
            return general.operate("_npi_advanced_indexing", array, entries[0])
        places = general.operate("stack", *entries)
        return general.operate("_npi_advanced_indexing_multiple", array, places)
    if entries and entries[-1] is Ellipsis:
        entries = entries[:-1]
    begin, end, step, codes, places = [], [], [], [], []
    for entry in entries:
        if entry is None:
            places.append(codes.count(-2) + len(places))
        elif isinstance(entry, slice):
            if entry.step == 0:
                raise ValueError("slice step cannot be zero")
            begin.append(entry.start), end.append(entry.stop), step.append(entry.step)
            codes.append(-2)
        elif isinstance(entry, integer_types) and not isinstance(entry, bool):
            at = int(entry)
            begin.append(at), end.append(None if at == -1 else at + 1), step.append(None)
            codes.append(-3)
        else:
            raise IndexError(
                "a symbol's index must be an integer, slice, None, symbol, or Ellipsis at the end, "
                f"got {key!r}"
            )
    if codes:
        attrs = {"begin": tuple(begin), "end": tuple(end)}
        if any(n is not None for n in step):
            attrs["step"] = tuple(step)
        array = general.operate("slice", array, **attrs)
    if -3 in codes:
        array = general.operate("_npx_reshape", array, newshape=(*codes, -4))
    for place in places:
        array = general.operate("expand_dims", array, axis=place)
    return array
