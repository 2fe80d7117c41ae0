"""Application of operators to symbols by functions of `mx.np`."""

import re
import threading

from mxcy._library import front
from mxcy.base import _Null
from mxcy.numpy._calls import symbolic
from mxcy.ops.core.attrs import REQUIRED
from mxcy.ops.core.record import find
from mxcy.symbol import register
from mxcy.symbol.symbol import Symbol

__all__ = ["named"]


class _Names(threading.local):
    next_one = None  # (name, attr, hint) for the next operator


_names = _Names()


class named:  # noqa: N801 - a context
    """A scope that sets the name, attributes or name hint of the operator applied in it.

    Parameters
    ----------
    name : str or None
    attr : dict of str to str, or None
    hint : str, optional
        Hint for automatic names, by default the operator's.
    """

    def __init__(self, name, attr, hint=None):
        self._given = name, attr, hint

    def __enter__(self):
        self._before, _names.next_one = _names.next_one, self._given

    def __exit__(self, *error):
        _names.next_one = self._before


def describe(name, inputs, attrs):
    """Make the symbol of an operator, or a list for several outputs; see `described.apply`."""
    record = find(name)
    for x in inputs:
        if x is not None and not isinstance(x, Symbol):
            raise TypeError(f"operator {name}: expected symbols, got {type(x)}")
    (own, attr, hint), _names.next_one = _names.next_one or (None, None, None), None
    attrs = {key: value for key, value in attrs.items() if value is not _Null}
    habits = record.in_symbols
    if habits.tells:
        usual = {f.name: f.default for f in record.schema.fields if f.name != "dtype"}
        attrs = {**{k: v for k, v in usual.items() if v is not REQUIRED}, **attrs}
    attrs = {key: value for key, value in attrs.items() if _is_told(record, key, value)}
    if habits.noted_as is not None:
        name, names, more = habits.noted_as
        attrs = {**{names[key]: value for key, value in attrs.items()}, **more}
        record = find(name)
    if attrs.get("ctx"):
        attrs["ctx"] = str(attrs["ctx"])
    if not inputs and record.uses_types and front.has_numpy_types():
        attrs.setdefault("dtype", _default_type(attrs))
    symbols = register.apply(
        record,
        hint or re.sub("^_(npi|npx|np|linalg)_|^_", "", name).lower(),
        inputs if record.variadic else _all(record, inputs),
        attrs,
        own,
        attr,
        absent=record.optional if name.startswith("_np") else (),
    )
    symbols = symbols.as_np_ndarray()
    return symbols if symbols.num_outputs == 1 else list(symbols)


def _is_told(record, key, value):
    """Whether an attribute must be stored: it is not the default, or always is."""
    if record.in_symbols.tells and key != "dtype":
        return True
    default = record.schema.by_name[key].default
    return not (type(value) is type(default) and value == default)


def _all(record, inputs):
    return (*inputs, *(None,) * (len(record.inputs) - len(inputs)))


def _default_type(attrs):
    """The default dtype under NumPy's type rules."""
    bounds = [attrs[name] for name in ("start", "stop", "step") if name in attrs]
    integral = bool(bounds) and "num" not in attrs and all(isinstance(n, int) for n in bounds)
    return "int64" if integral else "float64"


symbolic.offer(Symbol, describe)
