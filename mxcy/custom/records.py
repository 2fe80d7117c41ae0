"""Records of custom operators: one per op_type and arguments of the property class."""

from mxcy._base.errors import MXNetError
from mxcy._base.suggestions import did_you_mean
from mxcy.custom.described import NAME, PROPERTIES, STATE, Described, asked
from mxcy.custom.jobs import Backward, Forward
from mxcy.ops.core.attrs import Field, Str
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import MAKERS, Op

__all__ = ["backward_record", "make", "record_of"]

_MOST = 1024  # maximum number of records, as arguments may never repeat
_records: dict = {}


def record_of(attrs):
    """Return the record of a custom operator.

    Parameters
    ----------
    attrs : dict of str to str
        ``op_type`` and the arguments of the property class; keys enclosed in double underscores are
        ignored.

    Raises
    ------
    MXNetError
        If the type is not registered, or its class rejects the arguments.
    """
    arguments = {key: text for key, text in attrs.items() if not key.startswith("__")}
    op_type = arguments.get("op_type")
    if op_type is None:
        raise MXNetError(f"operator {NAME}: op_type is missing, the name of a registered operator")
    kind = PROPERTIES.get(op_type)
    if kind is None:
        known = ", ".join(sorted(PROPERTIES)) or "none"
        raise MXNetError(
            f"Cannot find custom operator {op_type}; registered by mx.operator.register are {known}"
            f"{did_you_mean(op_type, PROPERTIES)}"
        )
    key = (kind, tuple(sorted(arguments.items())))
    record = _records.get(key)
    if record is None:
        if len(_records) >= _MOST:
            _records.clear()
        record = _records[key] = _make(kind, op_type, arguments)
    return record


def _make(kind, op_type, texts):
    arguments = {key: text for key, text in texts.items() if key != "op_type"}
    prop = asked(op_type, "__init__", kind, **arguments)
    return make(NAME, Described(op_type, arguments, prop), texts)


def make(name, described, attrs):
    """Make the record of an operator with attributes.

    Parameters
    ----------
    name : str
        The operator's name in symbols and files.
    described : Described
    attrs : dict of str to str
    """
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
        amp="fp32",
        infer=described.infer,
        grad=lambda a, F, g, inputs, outs, needs, specs: _gradients(
            described, a, F, g, inputs, outs, needs, specs
        ),
        ref=described.no_reference,
        in_symbols=InSymbols(named=True, listed=len(described.outputs)),
        foreign=foreign,
        doc=f"The custom operator {described.op_type}.",
    )
    return foreign.record


# --- gradient ------------------------------------------------------------------------------------


def _gradients(described, a, F, g, inputs, outs, needs, specs):
    """The gradient rule in graphs: the backward operator on the arrays it reads."""
    count = len(described.arguments)
    record = backward_record(described, a.train, tuple(needs[:count]), specs)
    row = [*g[:-1], *inputs[:count], *outs[:-1]]
    read = [value for number, value in enumerate(row) if number in described.needed]
    gradients = F.function(record)(*read, *inputs[count:], outs[-1])
    gradients = iter(gradients if isinstance(gradients, list) else [gradients])
    return [next(gradients) if need else None for need in needs[:count]]


def backward_record(described, train, needs, specs):
    """Make the record of a backward pass.

    Parameters
    ----------
    described : Described
    train : bool
        Whether the mode is training.
    needs : tuple of bool
        Which inputs require gradients.
    specs : list of Spec
        Specs of the inputs.
    """
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
