"""Symbols without inputs: variables, constants and ranges; loading from files."""

import re

from mxcy import attribute
from mxcy._base import dtypes
from mxcy._semantics.switches import is_np_shape
from mxcy.base import MXNetError, integer_types
from mxcy.graph.json import loads
from mxcy.graph.node import SymbolNode, topological
from mxcy.symbol import attributes, text
from mxcy.symbol.register import F
from mxcy.symbol.symbol import Symbol

__all__ = [
    "Variable",
    "arange",
    "eye",
    "fromjson",
    "full",
    "histogram",
    "linspace",
    "load",
    "load_json",
    "ones",
    "split_v2",
    "var",
    "zeros",
]


def var(
    name,
    attr=None,
    shape=None,
    lr_mult=None,
    wd_mult=None,
    dtype=None,
    init=None,
    stype=None,
    profiler_scope=None,
    **kwargs,
):
    """Create a variable, to which an array is bound later.

    Parameters
    ----------
    name : str
    attr : dict of str to str, optional
        Attributes of the variable.
    shape : tuple of int, optional
        Shape, for inference; 0 means an unknown dimension.
    lr_mult, wd_mult : float, optional
        Multipliers of learning rate and weight decay.
    dtype : dtype, optional
        Dtype, for inference.
    init : str or Initializer, optional
        Initializer, overriding the network's.
    stype : {'default', 'row_sparse', 'csr'}, optional
        Storage type.
    profiler_scope : str, optional
        Name under which the profiler lists it.
    **kwargs
        Additional attributes, with names that start and end with double underscores.

    Returns
    -------
    Symbol

    Raises
    ------
    TypeError
        If `name` is not a str.
    ValueError
        If an additional attribute's name lacks the double underscores.
    """
    if not isinstance(name, str):
        raise TypeError("Expect a string for variable `name`")
    attrs = dict(attribute.current().get(attr))
    if shape is not None:
        extents = shape if isinstance(shape, (tuple, list)) else (shape,)
        attrs["__shape__"] = str(tuple(int(n) for n in extents))
    if lr_mult is not None:
        attrs["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        attrs["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        attrs["__dtype__"] = str(dtypes.real_code_of(dtype))
    if init is not None:
        attrs["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        if stype not in dtypes.STORAGE_TYPES:
            known = ", ".join(map(repr, list(dtypes.STORAGE_TYPES)[1:]))
            raise ValueError(f"var: stype: expected one of {known}, got {stype!r}")
        attrs["__storage_type__"] = str(dtypes.STORAGE_TYPES[stype])
    if profiler_scope is not None:
        attrs["__profiler_scope__"] = profiler_scope
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(
                f"Attribute name={key} is not supported. Additional attributes must start and end "
                "with double underscores, e.g, __yourattr__"
            )
        attrs[key] = str(value)
    variable = Symbol([(SymbolNode(None, name), 0)])
    # Explicit arguments take precedence over the plain keys of `attr`.
    for key, value in attrs.items():
        if not isinstance(value, str):
            raise ValueError("Set Attr only accepts string values")
        stored = attributes.stored_key(key, value)
        if stored == key or stored not in attrs:
            variable._entries[0][0].attrs[stored] = value
    return variable


Variable = var


def load(fname):
    """Read a symbol from a JSON file.

    Parameters
    ----------
    fname : str

    Returns
    -------
    Symbol

    Raises
    ------
    MXNetError
        If the file does not exist, or is not a symbol.
    """
    if not isinstance(fname, str):
        raise TypeError("fname need to be string")
    content = text.read(fname)
    try:
        return load_json(content)
    except MXNetError as error:
        raise MXNetError(f"{fname}: {error}") from error


def load_json(json_str):
    """Read a symbol from JSON text.

    Parameters
    ----------
    json_str : str

    Returns
    -------
    Symbol

    Raises
    ------
    MXNetError
        If the text is not a symbol, or an operator is unknown.
    """
    if not isinstance(json_str, str):
        raise TypeError("fname required to be string")
    entries = loads(json_str)
    if is_np_shape() and '"is_np_shape"' not in json_str:
        _name_unknown_extents(entries)
    return Symbol(entries)


def _name_unknown_extents(entries):
    """Convert unknown dimensions (0) in an MXNet 1.x graph to NumPy shape semantics (-1)."""
    for node in topological(entries):
        shape = node.attrs.get("__shape__") if node.op is None else None
        if shape is not None:
            node.attrs["__shape__"] = re.sub(r"\b0\b", "-1", shape)


fromjson = load_json


def _named(dtype):
    return "float32" if dtype is None else dtype


def zeros(shape, dtype=None, **kwargs):
    """Create zeros; dimensions of 0 are inferred from the symbol's users.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
        The dtype, by default float32.

    Returns
    -------
    Symbol
    """
    return F._zeros(shape=shape, dtype=_named(dtype), **kwargs)


def ones(shape, dtype=None, **kwargs):
    """Create ones; dimensions of 0 are inferred from the symbol's users.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
        The dtype, by default float32.

    Returns
    -------
    Symbol
    """
    return F._ones(shape=shape, dtype=_named(dtype), **kwargs)


def full(shape, val, dtype=None, **kwargs):
    """Create an array filled with a number.

    Parameters
    ----------
    shape : int or tuple of int
    val : float
    dtype : dtype, optional
        The dtype, by default float32.

    Returns
    -------
    Symbol
    """
    return F._full(shape=shape, dtype=_named(dtype), value=float(val), **kwargs)


def eye(N, M=0, k=0, dtype=None, **kwargs):
    """Create a matrix with ones on a diagonal.

    Parameters
    ----------
    N, M : int
        Numbers of rows and columns; `M` = 0 means N columns.
    k : int
        The diagonal: 0 is the main one, positive ones are above it.
    dtype : dtype, optional
        The dtype, by default float32.

    Returns
    -------
    Symbol
    """
    return F._eye(N, M, k, dtype=_named(dtype), **kwargs)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None):
    """Create an array of evenly spaced values.

    Parameters
    ----------
    start, stop : float
        The first value and the end, exclusive; without `stop`, 0 and `start`.
    step : float
    repeat : int
        Number of repetitions of each value.
    infer_range : bool
        Whether to infer the end from the shape required by the symbol's users.
    name : str, optional
    dtype : dtype, optional
        The dtype, by default float32.

    Returns
    -------
    Symbol
    """
    return F._arange(
        start=start,
        stop=stop,
        step=step,
        repeat=repeat,
        infer_range=infer_range,
        name=name,
        dtype=_named(dtype),
    )


def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """Create an array of `num` evenly spaced values.

    Parameters
    ----------
    start, stop : float
    num : int
    endpoint : bool
        Whether `stop` is the last value.
    name : str, optional
    dtype : dtype, optional
        The dtype, by default float32.

    Returns
    -------
    Symbol
    """
    return F._linspace(
        start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype=_named(dtype)
    )


def histogram(a, bins=10, range=None, **kwargs):
    """Compute a histogram.

    Parameters
    ----------
    a : Symbol
    bins : int or Symbol
        The number of equal-width bins, or their edges.
    range : (float, float)
        The outer edges, required for a number of bins.

    Returns
    -------
    Symbol
        Two outputs: counts and edges.

    Raises
    ------
    ValueError
        If a number of bins is given without `range`, or `bins` has another type.
    """
    if isinstance(bins, Symbol):
        return F._histogram(data=a, bins=bins, **kwargs)
    if isinstance(bins, integer_types):
        if range is None:
            raise ValueError("null range is not supported in symbol mode")
        return F._histogram(data=a, bin_cnt=bins, range=range, **kwargs)
    raise ValueError("bins argument should be either an integer or an NDArray")


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Split along an axis.

    Parameters
    ----------
    ary : Symbol
    indices_or_sections : int or tuple of int
        The number of equal parts, or the indices to split at.
    axis : int
    squeeze_axis : bool
        Whether to remove the axis from parts of size 1.

    Returns
    -------
    Symbol
        One output per part.

    Raises
    ------
    ValueError
        If `indices_or_sections` has another type.
    """
    indices, sections = [], 0
    if isinstance(indices_or_sections, integer_types):
        sections = indices_or_sections
    elif isinstance(indices_or_sections, (tuple, list, set)):
        indices = [0, *indices_or_sections]
    else:
        raise ValueError("indices_or_sections must either int or tuple / list / set of ints")
    return F._split_v2(ary, indices, axis, squeeze_axis, sections)
