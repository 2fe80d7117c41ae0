"""The records of users' operators: one for each type and the arguments of its property class."""

import numpy as np

from mxcy import dtypes
from mxcy.base import MXNetError
from mxcy.ops.attrs import Field, Str
from mxcy.ops.in_symbols import InSymbols
from mxcy.ops.infer import InferError, Spec
from mxcy.ops.record import MAKERS, Op

__all__ = [
    "NAME", "PROPERTIES", "Described", "backward_record", "make", "property_error", "record_of",
]  # fmt: skip

NAME = "Custom"
#: type -> the class that describes the operator
PROPERTIES: dict = {}
#: the name of the hidden output that tells the backward pass which object ran the forward pass
STATE = "state"
_MOST = 1024  # records; arguments that never come again must not pile up
_INT64 = dtypes.CODES["int64"]
_records: dict = {}


def property_error(op_type, method, error):
    """The MXNetError for an exception in a method of users' code."""
    kind = "" if isinstance(error, MXNetError) else f"{type(error).__name__}: "
    return MXNetError(f"Error in operator {NAME} ({op_type}): {method}: {kind}{error}")


def record_of(attrs):
    """The record of an operator.

    Parameters
    ----------
    attrs : dict of str to str
        ``op_type``, and the arguments of the property class; what stands between double
        underscores is not for that.

    Raises
    ------
    MXNetError
        When the type is not registered, or its class does not take the arguments.
    """
    given = {key: text for key, text in attrs.items() if not key.startswith("__")}
    op_type = given.get("op_type")
    if op_type is None:
        raise MXNetError(f"operator {NAME}: op_type is missing, the name of a registered operator")
    kind = PROPERTIES.get(op_type)
    if kind is None:
        known = ", ".join(sorted(PROPERTIES)) or "none"
        raise MXNetError(
            f"Cannot find custom operator {op_type}; registered by mx.operator.register are {known}"
        )
    key = (kind, tuple(sorted(given.items())))
    found = _records.get(key)
    if found is None:
        if len(_records) >= _MOST:
            _records.clear()
        found = _records[key] = _make(kind, op_type, given)
    return found


def _make(kind, op_type, given):
    arguments = {key: text for key, text in given.items() if key != "op_type"}
    prop = _asked(op_type, "__init__", kind, **arguments)
    return make(NAME, Described(op_type, arguments, prop), given)


def make(name, described, attrs):
    """Make the record of an operator with attributes.

    Parameters
    ----------
    name : str
        The operator's name in symbols and files.
    described : Described
    attrs : dict of str to str
    """
    from mxcy.custom.jobs import Forward  # which runs what the records describe

    foreign = Forward(described)
    foreign.attrs = attrs
    foreign.record = Op(
        name,
        fields=[Field(key, Str) for key in attrs],
        inputs=" ".join(described.arguments + described.states),
        outputs=" ".join((*described.outputs, STATE)),
        visible=len(described.outputs),
        mutates=described.states,
        uses_mode=True,
        infer=described.infer,
        grad=lambda a, F, g, inputs, outs, needs, specs: _gradients(
            described, a, F, g, inputs, outs, needs, specs
        ),
        ref=described.no_reference,
        in_symbols=InSymbols(named=True, listed=len(described.outputs)),
        foreign=foreign,
        doc=f"The operator {described.op_type}, which a user has written.",
    )
    return foreign.record


def _asked(op_type, method, function, *args, **kwargs):
    """What users' code returns."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise property_error(op_type, method, error) from error


def _names(op_type, method, function):
    found = _asked(op_type, method, function)
    if not isinstance(found, (list, tuple)) or not all(isinstance(name, str) for name in found):
        raise MXNetError(
            f"operator {NAME} ({op_type}): {method} must return a list of names, got {found!r}"
        )
    return tuple(found)


class Described:
    """What a property object says of its operator.

    Attributes
    ----------
    op_type : str
    given : dict of str to str
        The arguments of the property class.
    prop : CustomOpProp
    arguments, outputs, states : tuple of str
        The names of the inputs, outputs and auxiliary states.
    needed : frozenset of int
        What the backward pass reads: numbers of output gradients, inputs, outputs, in a row.
    """

    def __init__(self, op_type, given, prop):
        self.op_type, self.given, self.prop = op_type, given, prop
        self.arguments = _names(op_type, "list_arguments", prop.list_arguments)
        self.outputs = _names(op_type, "list_outputs", prop.list_outputs)
        self.states = _names(op_type, "list_auxiliary_states", prop.list_auxiliary_states)
        if not self.outputs:
            raise MXNetError(f"operator {NAME} ({op_type}): list_outputs names no outputs")
        self._needed = None

    @property
    def needed(self):
        if self._needed is None:
            outs, ins = len(self.outputs), len(self.arguments)
            numbers = list(range(2 * outs + ins))
            found = _asked(
                self.op_type, "declare_backward_dependency", self.prop.declare_backward_dependency,
                numbers[:outs], numbers[outs : outs + ins], numbers[outs + ins :],
            )  # fmt: skip
            self._needed = frozenset(found)
        return self._needed

    def no_reference(self, a, xp, *arrays):
        """In place of a reference: there is no definition but the users' code."""
        raise MXNetError(f"operator {NAME} ({self.op_type}) runs on arrays only")

    # --- shapes and types ---
    def infer(self, a, *ins):
        """Shapes and dtypes as `infer_shape` and `infer_type` tell them."""
        count = len(self.arguments)
        shapes = [[max(n, 0) for n in spec.shape or ()] for spec in ins[:count]]
        complete = all(spec.shape is not None and -1 not in spec.shape for spec in ins[:count])
        shapes = self._told("infer_shape", shapes, complete)
        kinds = [None if s.dtype is None else dtypes.dtype_of(s.dtype).type for s in ins[:count]]
        kinds = self._told("infer_type", kinds, None not in kinds)
        outs = [Spec() for _ in self.outputs]
        names = (*self.arguments, *self.outputs, *self.states)
        for name, spec, shape, kind in zip(
            names, (*ins[:count], *outs, *ins[count:]), shapes, kinds, strict=True
        ):
            if shape is not None:
                spec.fill(name, shape if complete else tuple(n or -1 for n in shape))
            if kind is not None:
                spec.fill(name, dtype=dtypes.code_of(np.dtype(kind)))
        return [*outs, Spec((1,), _INT64)]

    def _told(self, method, known, complete):
        """What `infer_shape` or `infer_type` says of inputs, outputs and states, None if nothing.

        With incomplete knowledge it may fail, which only says that it cannot tell yet.
        """
        counts = [len(self.arguments), len(self.outputs), len(self.states)]
        nothing = [None] * sum(counts)
        try:
            found = getattr(self.prop, method)(known)
        except Exception as error:
            if complete:
                kind = type(error).__name__
                raise InferError(f"({self.op_type}) {method}: {kind}: {error}") from error
            return nothing
        if not isinstance(found, (list, tuple)) or len(found) not in (2, 3):
            raise InferError(f"({self.op_type}) {method} must return 2 or 3 lists")
        lists = [list(part) for part in found] + [[]] * (3 - len(found))
        for what, part, count in zip(("input", "output", "state"), lists, counts, strict=True):
            if len(part) != count:
                raise InferError(
                    f"({self.op_type}) {method} told of {len(part)} {what}s, expected {count}"
                )
        flat = [item for part in lists for item in part]
        if method == "infer_type":
            return flat
        shapes = [None if shape is None else tuple(int(n) for n in shape) for shape in flat]
        return shapes if complete else [shape or None for shape in shapes]


# --- gradient ------------------------------------------------------------------------------------


def _gradients(described, a, F, g, inputs, outs, needs, specs):
    """The gradient rule in graphs: the operator of the backward pass over what that reads."""
    count = len(described.arguments)
    record = backward_record(described, a.train, tuple(needs[:count]), specs)
    row = [*g[:-1], *inputs[:count], *outs[:-1]]
    read = [value for number, value in enumerate(row) if number in described.needed]
    found = F.function(record)(*read, *inputs[count:], outs[-1])
    found = iter(found if isinstance(found, list) else [found])
    return [next(found) if need else None for need in needs[:count]]


def backward_record(described, train, needs, specs):
    """The record of a backward pass.

    Parameters
    ----------
    described : Described
    train : bool
        The mode.
    needs : tuple of bool
        Which inputs' gradients are wanted.
    specs : list of Spec
        Of the inputs.
    """
    from mxcy.custom.jobs import Backward

    count = len(described.arguments)
    specs = [Spec(spec.shape, spec.dtype) for spec in specs]
    wanted = [spec for spec, need in zip(specs, needs, strict=False) if need]
    reads = [f"read{number}" for number in sorted(described.needed)]
    states = [f"state{number}" for number in range(len(described.states))]
    return Op(
        f"_backward_{NAME}",
        inputs=" ".join((*reads, *states, STATE)),
        outputs=" ".join(f"grad{number}" for number in range(len(wanted))),
        mutates=tuple(states),
        infer=lambda a, *ins: [Spec(spec.shape, spec.dtype) for spec in wanted],
        ref=described.no_reference,
        foreign=Backward(described, needs, specs[:count]),
    )


MAKERS[NAME] = record_of
