"""General path for `mx.np` calls: scalars, lists, NumPy arrays, ufunc keywords."""

import inspect

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy._semantics.parameters import np_ufunc_legal_option
from mxcy.base import MXNetError, _Null
from mxcy.context import as_context
from mxcy.ndarray.register import F
from mxcy.numpy._calls import symbolic
from mxcy.numpy._calls.operands import array_class, as_array, as_operands, is_array, numbers_only
from mxcy.ops.core.record import find
from mxcy.ops.elementwise.cast import caster

__all__ = ["Called", "call", "cast", "into", "operate", "store"]

_operators = {}  # registered name -> handle, names of the attributes
_USUAL = {"where": True, "casting": "same_kind", "order": "K", "subok": True, "dtype": None}


class Called:
    """The operator behind an `mx.np` function.

    Parameters
    ----------
    name : str
        The public name.
    record : Op
    public : Public
    """

    __slots__ = ("name", "record", "public", "handle", "number", "number_first", "cls")

    def __init__(self, name, record, public, find, cls):
        self.name, self.record, self.public, self.cls = name, record, public, cls
        self.handle = front.bind(record)
        forms = (public.number, public.number_first)
        if len(record.inputs) != 2:  # the handler of `where` takes scalars itself
            forms = (None, None)
        self.number, self.number_first = (form and front.bind(find(form)) for form in forms)


def call(called, inputs, raw, out, keywords):
    """Call an operator with arbitrary arguments.

    Parameters
    ----------
    called : Called
    inputs : tuple
    raw : tuple
        Attributes in schema order, `_Null` for those not given.
    out : NDArray, tuple of one, or None
    keywords : dict
        Keyword arguments unknown to the operator.
    """
    if isinstance(out, tuple):
        if len(out) != 1:
            raise MXNetError(f"{called.name}: out takes one array, got {len(out)}")
        (out,) = out
    if inputs and numbers_only(inputs) and out is None:
        result = _by_numpy(called, inputs, raw, keywords)
        if result is not None and not isinstance(result, onp.ndarray):
            return result
    if symbolic.any_symbols(inputs):
        return _describe(called, inputs, raw, keywords)
    keywords, raw = _placed(called, raw, keywords)
    where, dtype = _checked(called, keywords, raw)
    if dtype is not None:
        inputs = _cast(called, inputs, dtype)
    if where is not None:
        result = _run(called, inputs, raw, None)
        return _masked(result, as_array(where), out, called.cls)
    return _run(called, inputs, raw, out)


def _by_numpy(called, inputs, raw, keywords):
    """Compute a call without arrays by NumPy; None if NumPy cannot."""
    options = dict(zip(called.record.schema.names, raw, strict=True), **keywords)
    options = {name: value for name, value in options.items() if value is not _Null}
    for name in ("ctx", "device"):
        options.pop(name, None)
    function = getattr(onp, called.name.rpartition(".")[2], None)
    if function is None:
        return None
    try:
        return function(*inputs, **options)
    except TypeError:  # let the operator raise the error
        return None


def _placed(called, raw, keywords):
    """Move the device keywords to the attribute `ctx`; return the other keywords."""
    device = keywords.pop("device", None)
    names = called.record.schema.names
    if "ctx" in names:
        place = names.index("ctx")
        context = raw[place] if raw[place] not in (_Null, None) else device
        text = _Null if context is None else str(as_context(context))
        raw = (*raw[:place], text, *raw[place + 1 :])
    elif device is not None:
        raise TypeError(f"{called.name} got an unexpected keyword argument 'device'")
    return keywords, raw


def _checked(called, keywords, raw):
    """Return mask and dtype from the keywords; others must have their defaults."""
    where = dtype = None
    for key, value in keywords.items():
        if key == "order" and value == "C" and _has_order(called):
            continue
        if key == "name" and "name=" in called.public.signature:
            continue  # node name, meaningless in eager calls
        if key not in _USUAL:
            raise TypeError(f"{called.name}() got an unexpected keyword argument {key!r}")
        if key == "where" and (is_array(value) or isinstance(value, (list, onp.ndarray))):
            where = value
        elif value is None or value is _USUAL[key] or value == _USUAL[key]:
            continue
        elif not np_ufunc_legal_option(key, value):
            raise TypeError(f"{key}={value!r} is not understood by function {called.name!r}")
        elif key == "dtype":
            dtype = dtypes.numpy_dtype(value)
        else:
            raise NotImplementedError(
                f"{key}={value} is not implemented yet for operator {called.name}"
            )
    return where, dtype


def _has_order(called):
    """Return whether `order` means a memory layout here; MXNet rejects it for ufuncs."""
    function = getattr(onp, called.name.rpartition(".")[2], None)
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return not isinstance(function, onp.ufunc)
    # `fix`, `isposinf` and `isneginf` are ufuncs to users, but Python functions in NumPy
    names = code.co_varnames[: code.co_argcount]
    return "out" not in names or "order" in names


def _cast(called, inputs, dtype):
    """Cast the inputs to a dtype allowed by NumPy's casting rule 'same_kind'."""
    arrays = [as_array(x) for x in inputs]
    for operand, array in zip(inputs, arrays, strict=True):
        own = dtypes.dtype_of(array.dtype_code)
        shorter = own.kind in "iu" and dtype.kind in "iu" and dtype.itemsize < own.itemsize
        shorter = shorter and is_array(operand)  # rejected by MXNet
        if shorter or not onp.can_cast(own, dtype, "same_kind"):
            raise NotImplementedError(
                f"dtype={dtype} is not implemented yet for operator {called.name} on arrays of "
                f"{dtypes.name_of(array.dtype_code)}"
            )
    return tuple(cast(array, dtypes.code_of(dtype)) for array in arrays)


def _run(called, inputs, raw, out):
    if called.number is not None and not all(map(is_array, inputs)):
        kind, inputs = as_operands(*inputs, called.name.startswith("bitwise"))
        if kind:
            handle = called.number if kind == "number" else called.number_first
            array, number = inputs
            is_int = isinstance(number, int)
            return front.call(handle, (array,), (float(number), is_int), out, {}, called.cls)
    record = called.record
    if record.eager is not None:
        return _by_values(
            record.name, map(as_array, inputs), dict(zip(record.schema.names, raw, strict=True))
        )
    if record.variadic:
        inputs = tuple(map(as_array, inputs))
    else:
        inputs = tuple(
            x if x is None and name in record.optional else as_array(x)
            for x, name in zip(inputs, record.inputs, strict=False)
        )
    return front.call(called.handle, inputs, raw, out, {}, called.cls)


def _describe(called, inputs, raw, keywords):
    """Return the symbol of a call; `out` is ignored, as symbols have no memory."""
    keywords, raw = _placed(called, raw, keywords)
    where, dtype = _checked(called, keywords, raw)
    if where is not None:
        raise NotImplementedError(f"{called.name}: symbols take no masks; use np.where")
    record = called.record
    attrs = dict(zip(record.schema.names, raw, strict=True))
    if called.number is not None:
        kind, inputs = as_operands(*inputs, called.name.startswith("bitwise"))
        if kind:
            public = called.public
            record = find(public.number if kind == "number" else public.number_first)
            array, number = inputs
            inputs = (array,)
            attrs = {"scalar": float(number), "is_int": isinstance(number, int)}
    if dtype is not None:
        attrs_of_cast = {"dtype": dtypes.name_of(dtypes.code_of(dtype))}
        inputs = tuple(symbolic.apply("Cast", (x,), attrs_of_cast) for x in inputs)
    return symbolic.apply(record.name, inputs, attrs)


def _masked(result, mask, out, cls):
    """Store a result in `out` where a mask is True."""
    if mask.dtype_code != dtypes.CODES["bool"]:
        raise TypeError("where: expected an array of booleans")
    shape = onp.broadcast_shapes(result.shape, mask.shape)
    if out is None:
        out = front.empty(shape, result.dtype_code, result.context, cls)
    mask, result = _broadcast(mask, shape), _broadcast(result, shape)
    if out.shape != shape:
        raise MXNetError(f"out: expected an array of shape {shape}, got {out.shape}")
    if result.dtype_code != out.dtype_code:
        _check_cast(result, out)
        result = cast(result, out.dtype_code)
    return F.where(mask, result, out, out=out)


def _broadcast(array, shape):
    if array.shape == shape:
        return array
    return operate("_npi_broadcast_to", array, shape=shape)


def _check_cast(result, out):
    kinds = [dtypes.dtype_of(array.dtype_code) for array in (result, out)]
    if not onp.can_cast(*kinds, "same_kind"):
        raise MXNetError(
            f"out: cannot cast from {kinds[0]} to {kinds[1]} with casting rule 'same_kind'"
        )


def store(result, out):
    """Cast a result into an array of another dtype; called by the fronts.

    Raises
    ------
    MXNetError
        If NumPy's casting rule 'same_kind' forbids it.
    """
    _check_cast(result, out)
    return cast(result, out.dtype_code, out)


def _by_values(name, inputs, attrs):
    """Call an operator with data-dependent output shapes."""
    options = {field: value for field, value in attrs.items() if value is not _Null}
    result = getattr(F, name)(*inputs, **options)
    if isinstance(result, list):
        return [array.as_np_ndarray() for array in result]
    return result.as_np_ndarray()


def operate(name, *inputs, out=None, **attrs):
    """Call an operator by its registered name; results are `mx.np` arrays.

    Parameters
    ----------
    name : str
    *inputs : NDArray
    out : NDArray, optional
    **attrs
        Attributes of the operator.

    Returns
    -------
    ndarray, or list of ndarrays
    """
    if symbolic.any_symbols(inputs):
        return symbolic.apply(name, inputs, attrs)
    known = _operators.get(name)
    if known is None:
        record = find(name)
        if record.eager is not None:
            return _by_values(name, inputs, attrs)
        known = _operators[name] = front.bind(record), record.schema.names
    handle, fields = known
    raw = tuple([attrs.pop(field, _Null) for field in fields])
    return front.call(handle, inputs, raw, out, attrs, array_class())


def cast(array, code, out=None):
    """Cast an array to another dtype, with MXNet's operator if it supports that dtype.

    Parameters
    ----------
    array : NDArray
    code : int
    out : NDArray, optional

    Returns
    -------
    ndarray
    """
    word = dtypes.name_of(code)
    return operate(caster(code, array.dtype_code), array, dtype=word, out=out)


def into(result, out):
    """Store a result in `out`, if given.

    Parameters
    ----------
    result : NDArray
    out : NDArray, tuple of one, or None

    Returns
    -------
    NDArray
        `out`, or `result` if `out` is None.
    """
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if out.shape != result.shape:
        raise MXNetError(f"out: expected an array of shape {result.shape}, got {out.shape}")
    return store(result, out)
