"""Operators of loaded libraries, which run like those of `mx.operator`."""

import functools
from importlib import import_module

from mxcy import context
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.custom import described as users
from mxcy.custom import records
from mxcy.ops.core import homes
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import MAKERS, REGISTRY

__all__ = ["offer"]


class _Operator:
    """Runs a library's functions; see `mxcy.operator.CustomOp`."""

    def __init__(self, library, entry, attrs):
        self._library, self._entry, self._attrs = library, entry, attrs

    def forward(self, is_train, req, in_data, out_data, aux):
        """Compute the outputs."""
        self._compute(True, [*in_data, *aux], out_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Compute the gradients of the inputs."""
        scratch = [front.empty(a.shape, a.dtype_code, context.cpu()) for a in aux]
        self._compute(False, [*out_grad, *in_data, *aux, *out_data], [*in_grad, *scratch])

    def _compute(self, forward, ins, outs):
        if not forward and self._entry.backward is None:
            raise MXNetError(f"operator {self._entry.name} has no backward function for the CPU")
        self._library.compute(self._entry, forward, self._attrs, ins, outs)


class _StatefulOperator(_Operator):
    """Runs a library's stateful object, created when the inputs are known."""

    _state = None

    def _compute(self, forward, ins, outs):
        if self._state is None:
            shapes, codes = [a.shape for a in ins], [a.dtype_code for a in ins]
            self._state = self._library.create(self._entry, self._attrs, shapes, codes)
        self._library.compute_with(self._entry, self._state, forward, ins, outs)

    def __del__(self):
        if self._state is not None:
            self._library.destroy(self._state)


class _Property:
    """The properties of a library's operator; see `mxcy.operator.CustomOpProp`."""

    def __init__(self, library, entry, attrs):
        self._library, self._entry, self._attrs = library, entry, attrs
        self._ins, self._outs = library.counts(entry, attrs)
        written = sorted(library.mutated(entry, attrs))
        self._read = self._ins - len(written)
        if written != list(range(self._read, self._ins)):
            raise MXNetError(
                f"operator {entry.name} writes inputs {written} of {self._ins}; only trailing "
                "inputs may be written"
            )

    def list_arguments(self):
        """Names of read-only inputs."""
        return [f"input{i}" for i in range(self._read)]

    def list_auxiliary_states(self):
        """Names of written inputs."""
        return [f"input{i}" for i in range(self._read, self._ins)]

    def list_outputs(self):
        """Names of the outputs."""
        return ["output"] if self._outs == 1 else [f"output{i}" for i in range(self._outs)]

    def shapes(self, shapes):
        """Infer shapes of inputs and outputs from the inputs'; empty is unknown."""
        return self._library.infer_shapes(self._entry, self._attrs, shapes, self._outs)

    def types(self, codes):
        """Infer dtype codes of inputs and outputs; -1 is unknown."""
        return self._library.infer_types(self._entry, self._attrs, codes, self._outs)

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """The backward function receives everything."""
        return [*out_grad, *in_data, *out_data]

    def create_operator(self, ctx, shapes, codes):
        """What computes."""
        if ctx.device_type == "gpu":
            raise MXNetError(f"operator {self._entry.name} only supports CPUs, not {ctx}")
        kind = _Operator if self._entry.create is None else _StatefulOperator
        return kind(self._library, self._entry, self._attrs)


class _Described(users.Described):
    """Describes a `_Property` for the record of its operator."""

    def infer(self, a, *ins):
        """Infer dtypes, and shapes once those of read-only inputs are known."""
        count = len(self.arguments)
        names = (*self.arguments, *self.states, *self.outputs)
        specs = [*ins, *(Spec() for _ in self.outputs)]
        codes = [-1 if spec.dtype is None else spec.dtype for spec in ins]
        for name, spec, code in zip(names, specs, sum(self.prop.types(codes), []), strict=True):
            spec.fill(name, dtype=code if code >= 0 else None)
        known = [spec.shape is not None and -1 not in spec.shape for spec in ins]
        if all(known[:count]):
            shapes = [spec.shape if yes else () for spec, yes in zip(ins, known, strict=True)]
            inferred = sum(self.prop.shapes(shapes), [])
            for name, spec, shape in zip(names, specs, inferred, strict=True):
                spec.fill(name, tuple(shape) if shape or spec.shape == () else None)
        return [*specs[len(ins) :], Spec((1,), dtypes.CODES["int64"])]


# --- registration --------------------------------------------------------------------------------


def offer(library):
    """Add the operators of a library to `mx.nd` and `mx.sym`, as assigned by `ops.homes`.

    Parameters
    ----------
    library : Library

    Returns
    -------
    list of str
        Names of the operators.

    Raises
    ------
    MXNetError
        If mxcy has an operator with this name, or functions are missing.
    """
    entries = [entry for entry in library.entries() if not entry.in_subgraphs]
    for entry in entries:
        if entry.name in REGISTRY or entry.name == users.NAME:
            raise MXNetError(f"Library {library.path}: operator {entry.name} exists already")
        lacking = [what for what in ("parse", "types", "shapes") if not getattr(entry, what)]
        if lacking or not (entry.forward or entry.create):
            raise MXNetError(
                f"Library {library.path}: operator {entry.name} lacks functions: "
                f"{', '.join(lacking) or 'forward or create, for the CPU'}"
            )
    for entry in entries:
        _offer_one(library, entry)
    return [entry.name for entry in entries]


def _offer_one(library, entry):
    @functools.lru_cache(1024)
    def made(attrs):
        attrs_of_call = dict(attrs)
        described = _Described(entry.name, attrs_of_call, _Property(library, entry, attrs_of_call))
        return records.make(entry.name, described, attrs_of_call)

    def record_of(attrs):
        texts = [(k, v) for k, v in attrs.items() if not k.startswith("__")]
        return made(tuple(sorted(texts)))

    MAKERS[entry.name] = record_of
    where, short = homes.home(entry.name)
    inside = {"mxcy.ndarray": _eager, "mxcy.symbol": _symbolic}
    for package, make in inside.items():
        function = make(record_of)
        function.__doc__ = f"The operator {entry.name} of the library {library.path}."
        function.__name__ = function.__qualname__ = entry.name
        function.__module__ = package
        places = [package, f"{package}.op"] if where == homes.MAIN else [f"{package}.{where}"]
        for place in places:
            setattr(import_module(place), short, function)


def _eager(record_of):
    def call(*data, out=None, **kwargs):
        named = {k: v for k, v in kwargs.items() if isinstance(v, front.NDArrayBase)}
        texts = {k: str(v) for k, v in kwargs.items() if k not in named and k != "name"}
        return record_of(texts).foreign.function(*data, out=out, **named)

    return call


def _symbolic(record_of):
    from mxcy.symbol import register
    from mxcy.symbol.symbol import Symbol

    def call(*data, name=None, attr=None, **kwargs):
        named = {k: v for k, v in kwargs.items() if isinstance(v, Symbol)}
        texts = {k: str(v) for k, v in kwargs.items() if k not in named}
        extra = {k: texts.pop(k) for k in tuple(texts) if k.startswith("__")}
        record = record_of(texts)
        if len(data) + len(named) != len(record.inputs):
            raise MXNetError(
                f"operator {record.name}: expected {len(record.inputs)} inputs, got "
                f"{len(data) + len(named)}"
            )
        inputs = [*data, *[None] * (len(record.inputs) - len(data))]
        return register.apply(
            record, record.name.lower(), inputs, texts, name, attr, {**named, **extra}
        )

    return call
