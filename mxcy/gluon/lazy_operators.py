"""Operators that infer the shapes of parameters on first use.

`hybrid_forward` may use a parameter whose shape is not known yet. It then gets a `LazyParameter`,
and for `F` a `LazyNamespace`: the first operator that takes the parameter infers its shape from the
other arguments, initializes it, and continues with its array.
"""

from types import ModuleType

from mxcy._library.front import NDArrayBase
from mxcy.base import MXNetError, _Null
from mxcy.gluon.utils import shape_is_known
from mxcy.ops.core import record as records
from mxcy.ops.core.infer import Spec

__all__ = ["LazyNamespace", "LazyParameter"]


class LazyParameter:
    """Placeholder for a parameter that has no array yet."""

    def __init__(self, parameter, context):
        self.parameter = parameter
        self.context = context

    def array(self):
        """NDArray: the parameter's array, once its shape is known."""
        return self.parameter.data(self.context)


class LazyNamespace:
    """An operator namespace (`mx.nd` or a submodule) that accepts `LazyParameter` arguments.

    Parameters
    ----------
    module : module
        The namespace.
    """

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        function = getattr(self._module, name)
        if isinstance(function, ModuleType):
            return LazyNamespace(function)
        if not callable(function):
            return function

        def call(*args, **kwargs):
            if any(isinstance(value, LazyParameter) for value in (*args, *kwargs.values())):
                _find_shapes(function, args, kwargs)
                args = [_settled(value) for value in args]
                kwargs = {key: _settled(value) for key, value in kwargs.items()}
            return function(*args, **kwargs)

        return call


def _is_input(value):
    return value is None or isinstance(value, (LazyParameter, NDArrayBase))


def _settled(value):
    return value.array() if isinstance(value, LazyParameter) else value


def _find_shapes(function, args, kwargs):
    """Infer and initialize the lazy parameters among an operator's arguments."""
    record = _record_of(function)
    make_record = records.MAKERS.get(function.__name__)
    if make_record is not None:
        record = make_record(
            {key: str(value) for key, value in kwargs.items() if not _is_input(value)}
        )
    if record is None:
        raise MXNetError(f"{function.__name__} cannot infer the shapes of parameters")
    inputs, attributes = _sorted_arguments(record, args, kwargs)
    attributes = {key: value for key, value in attributes.items() if value is not _Null}
    attrs = record.schema.intern(record.name, attributes)
    specs = [_spec(value) for value in inputs]
    record.infer(attrs, specs)
    for value, spec in zip(inputs, specs, strict=True):
        if isinstance(value, LazyParameter) and spec.shape is not None:
            value.parameter.shape = tuple(0 if n == -1 else n for n in spec.shape)
            if shape_is_known(value.parameter.shape):
                value.parameter._finish_deferred_init()


def _record_of(function):
    """The record behind a function of `mx.nd`, `mx.np` or `mx.npx`."""
    of_numpy = (function.__module__ or "").startswith("mxcy.numpy")
    for prefix in ("_npx_", "_npi_") if of_numpy else ("",):
        record = records.REGISTRY.get(prefix + function.__name__)
        if record is not None:
            return record
    return None


def _sorted_arguments(record, args, kwargs):
    """Split an operator call into its inputs, in order, and its attributes by name."""
    kwargs = {k: v for k, v in kwargs.items() if k not in ("out", "name")}
    if record.variadic:
        return list(args), kwargs
    names = (*record.inputs, *record.schema.names)
    arguments = {**dict(zip(names, args, strict=False)), **kwargs}
    inputs = [arguments.pop(name, None) for name in record.inputs]
    return [value for value in inputs if value is not None], arguments


def _spec(value):
    """The known shape and dtype of an input."""
    if isinstance(value, LazyParameter):
        shape = value.parameter.shape
        return Spec(None if shape is None else tuple(n if n > 0 else -1 for n in shape))
    return Spec(value.shape, value.dtype_code)
