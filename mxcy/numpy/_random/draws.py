"""Drawing samples for `mx.np.random`, and the shared parts of its docstrings."""

import inspect

import numpy as onp

from mxcy._base import dtypes
from mxcy._base.errors import TracedValueError
from mxcy._library import front
from mxcy.base import integer_types
from mxcy.numpy._calls.by_numpy import as_onp
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, as_np_array, from_onp, is_array
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._creation.rules import place
from mxcy.ops.core.record import find

__all__ = [
    "common_extents",
    "default_name",
    "described",
    "draw",
    "draw_by_numpy",
    "draw_counts",
    "extents_of",
    "name_of",
    "parameters_of",
]


_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


#: documentation of shared parameters, by the names that begin their lines
_SHARED = {
    "size": "size : int or tuple of int, optional\n"
    "    Shape of the result; by default the broadcast shape of the parameters.",
    "*size": "*size : int\n    The result's shape.",
    "dtype": "dtype : dtype, optional\n"
    "    The default floating type, or int64 of counts, unless given. Floating numbers are drawn\n"
    "    as float32; as integers they lose their fractions.",
    "device": "device, ctx : Device, optional",
    "out": "out : ndarray, optional\n    Array to write the result to.",
    "**kwargs": "**kwargs\n    Passed on to that function.",
}
_END = """
Returns
-------
ndarray

Raises
------
ValueError
    When a parameter is not allowed, at the latest where the result is waited for."""


def extents_of(size):
    """Return an argument `size` as a tuple, or None."""
    if size is None:
        return None
    try:
        return (int(size),) if isinstance(size, integer_types) else tuple(map(int, size))
    except TypeError:
        raise TypeError(f"size: expected an integer or a tuple of integers, got {size!r}") from None


def name_of(dtype):
    """Return the name of a dtype, or None."""
    return None if dtype is None else dtypes.name_of(dtypes.code_of(dtype))


def draw(name, parameters, size, dtype, device, ctx, out, **attrs):
    """Call a distribution's operator: scalar parameters are attributes, arrays are inputs."""
    arrays = []
    for parameter, value in parameters.items():
        if value is None:
            raise TypeError(f"{name}: parameter {parameter} must be given")
        if is_array(value) or is_symbol(value) or isinstance(value, (list, tuple, onp.ndarray)):
            arrays.append(as_array(value))
            parameters[parameter] = None
        else:
            parameters[parameter] = float(value)
    if not arrays:
        _check(name, attrs, **parameters)
        size = () if size is None else size
        attrs["ctx"] = str(place(ctx, device))
    kind, op = name_of(dtype), find(f"_npi_{name}")
    attrs = {**attrs, **parameters, "size": extents_of(size)}
    if kind in _INTEGERS and kind not in op.schema.by_name["dtype"].type.choices:
        return operate("Cast", operate(op.name, *arrays, **attrs), dtype=kind, out=out)
    return operate(op.name, *arrays, dtype=kind, out=out, **attrs)


def _check(name, attrs, scale=0.0, prob=0.0, shape=1.0, a=1.0, **others):
    if not scale >= 0:
        raise ValueError(f"np.random.{name}: expected scale >= 0, got {scale}")
    if not shape > 0 or not a > 0:
        raise ValueError(f"np.random.{name}: expected a positive shape, got {min(shape, a)}")
    if not attrs.get("is_logit") and not 0 <= prob <= 1:
        raise ValueError(f"np.random.{name}: expected 0 <= prob <= 1, got {prob}")


def draw_counts(name, parameters, size, dtype, device, ctx):
    """Draw integers by an MXNet 1.x operator: scalar parameters are attributes, arrays inputs.

    Parameters
    ----------
    name : str
        Name of the distribution.
    parameters : dict of str to number or array_like
        Parameters by attribute name of the operator.
    size, dtype, device, ctx
        See the functions of `mx.np.random`.

    Returns
    -------
    ndarray
        int64 unless `dtype` is given.
    """
    values = parameters_of(*parameters.values())
    size = common_extents(size, *values)
    if all(isinstance(value, float) for value in values):
        numbers = dict(zip(parameters, values, strict=True))
        if "n" in numbers:
            numbers["n"] = int(numbers["n"])
        context = str(place(ctx, device))
        drawn = operate(f"_random_{name}", shape=size, ctx=context, dtype="float64", **numbers)
    else:
        arrays = [operate("Cast", as_array(value), dtype="float64") for value in values]
        arrays = [operate("_npi_broadcast_to", array, shape=size) for array in arrays]
        drawn = operate(f"_sample_{name}", *arrays, shape=(), dtype="float64")
    return operate("Cast", drawn, dtype=name_of(dtype) or "int64")


def draw_by_numpy(name, parameters, size, dtype, device, ctx):
    """Draw by NumPy, from a generator seeded by the device's random streams.

    Parameters
    ----------
    name : str
        Name of a method of `numpy.random.RandomState`.
    parameters : tuple of number or array_like
    size, dtype, device, ctx
        See the functions of `mx.np.random`.

    Returns
    -------
    ndarray

    Raises
    ------
    TracedValueError
        In deferred computation, as a graph would repeat the same samples.
    """
    if front.is_deferred():
        raise TracedValueError(f"np.random.{name} is drawn by NumPy, so no graph can draw it")
    where = place(ctx, device)
    context = {"ctx": str(where), "dtype": "int64"}
    words = operate("_random_randint", low=0, high=1 << 32, shape=(4,), **context).asnumpy()
    engine = onp.random.RandomState(words.astype(onp.uint32))
    drawn = onp.asarray(getattr(engine, name)(*as_onp(parameters), extents_of(size)))
    kind = name_of(dtype) or ("int64" if drawn.dtype.kind == "i" else default_name())
    return from_onp(drawn, dtypes.DTYPES[dtypes.CODES[kind]], where)


def parameters_of(*values):
    """Convert parameters to floats or `mx.np` arrays."""
    return [
        float(value) if isinstance(value, (int, float, onp.generic)) else as_np_array(value)
        for value in values
    ]


def common_extents(size, *parameters):
    """Return `size` as a shape, by default the broadcast shape of the parameters."""
    if size is not None:
        return extents_of(size)
    shapes = [value.shape for value in parameters if not isinstance(value, float)]
    return onp.broadcast_shapes(*shapes)


def default_name():
    """Return the name of the default floating-point dtype."""
    return "float64" if front.has_numpy_types() else "float32"


def described(parameters=""):
    """Append a function's parameters and the shared sections to its docstring."""
    own = {name: f"{name} : float or ndarray" for name in parameters.split()}

    def describe(function):
        names = [str(p).partition("=")[0] for p in inspect.signature(function).parameters.values()]
        known = {**_SHARED, **own}
        lines = [known[name] for name in names if name in known]
        text = "\n".join(("", "", "Parameters", "----------", *lines, _END))
        if function.__doc__:  # python -OO strips docstrings
            function.__doc__ += text.replace("\n", "\n    ").replace("    \n", "\n") + "\n    "
        return function

    return describe
