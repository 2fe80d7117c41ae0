"""Random calls of random operators, including internal ones: kernels, eager calls, symbols."""

import json

import numpy as np

import mxcy as mx
import mxcy.ndarray.register
from mxcy._base.errors import MXNetError
from mxcy.ops.core.infer import UnforeseenError
from tests.fuzz import mutations
from tests.fuzz.operator_calls import RECORDS, OperatorCall, array_of, is_small, run

__all__ = ["COUNT", "case", "draw"]

COUNT = 3000  # of the ordinary tests

_NAMES = sorted(RECORDS)
_SAMPLES: dict[str, list] = {}


def case(seed):
    """Run the call of a seed; returns its outcome."""
    rng = np.random.default_rng(seed)
    call = draw(rng)
    how = (_by_kernels, _eagerly, _in_symbol)[rng.integers(3)]
    try:
        return how(call)
    except (MXNetError, IndexError) as error:
        if isinstance(error, UnforeseenError):
            error.add_note(f"{how.__name__}: {call}")
            raise
        return "refused"
    except Exception as error:
        error.add_note(f"{how.__name__}: {call}")
        raise


def draw(rng):
    """A sample of a random record, after up to four random changes."""
    name = _NAMES[rng.integers(len(_NAMES))]
    if name not in _SAMPLES:
        _SAMPLES[name] = list(mutations.calls_of_samples(RECORDS[name]))
    calls = _SAMPLES[name]
    call = calls[rng.integers(len(calls))]
    for _ in range(rng.integers(5)):
        call = _changed(call, rng)
    return call


def _changed(call, rng):
    """A call that differs in one respect."""
    kind = rng.integers(8)
    if kind < 3 and call.record.schema.fields:
        fields = call.record.schema.fields
        field = fields[rng.integers(len(fields))]
        known = call.attrs.get(field.name, field.default)
        others = list(mutations.change_attribute(field, known))
        attrs = {**call.attrs, field.name: others[rng.integers(len(others))]} if others else {}
        return OperatorCall(call.record, attrs or call.attrs, call.inputs, call.train)
    if not call.inputs:
        return call
    inputs = list(call.inputs)
    at = rng.integers(len(inputs))
    if kind < 5:
        inputs[at] = mutations.resized(inputs[at], _shape(inputs[at].shape, rng))
    elif kind == 5:
        dtype = mutations.DTYPES[rng.integers(len(mutations.DTYPES))]
        chosen = [at] if rng.integers(2) else range(len(inputs))
        for i in chosen:
            inputs[i] = mutations.typed(mutations.plain(inputs[i]), dtype)
    elif kind == 6:
        inputs[at] = _values(inputs[at], rng)
    elif rng.integers(2):
        del inputs[at]
    else:
        inputs.insert(at, inputs[rng.integers(len(inputs))])
    return OperatorCall(call.record, call.attrs, inputs, call.train)


def _shape(shape, rng):
    if rng.integers(4) == 0:
        return tuple(int(n) for n in rng.integers(0, 5, rng.integers(0, 6)))
    others = list(mutations.other_shapes(shape))
    return others[rng.integers(len(others))]


def _values(values, rng):
    """The array with special values in some positions."""
    own = mutations.name_of(values)
    array = np.array(mutations.plain(values).real, np.float64)
    some = rng.random(array.shape) < rng.random()
    array[some] = rng.choice(mutations.NUMBERS, int(some.sum()))
    return mutations.typed(array, own)


# --- three ways to run it ------------------------------------------------------------------------


def _by_kernels(call):
    return run(call)


def _eagerly(call):
    """Call the function of `mx.nd`."""
    if not is_small(call):
        return "large"
    record = call.record
    wanted = None if record.variadic else len(record.arguments(call.static_attrs()))
    if wanted not in (None, len(call.inputs)):
        return "refused"  # Python's errors for arguments
    arrays = [array_of(values) for values in call.inputs]
    attrs = {name: value for name, value in call.attrs.items() if name != record.num_args}
    with mx.autograd.train_mode() if call.train else mx.autograd.predict_mode():
        outs = mxcy.ndarray.register.function(record)(*arrays, **attrs)
    for out in outs if isinstance(outs, list) else [outs]:
        out.wait_to_read()
    return "ok"


def _in_symbol(call):
    """Run the call as a node of a symbol file."""
    if not is_small(call):
        return "large"
    symbol = mx.sym.load_json(_text(call))
    arrays = dict(zip(map(_variable, range(len(call.inputs))), call.inputs, strict=True))
    arrays = {name: array_of(values) for name, values in arrays.items()}
    states = {name: arrays.pop(name) for name in symbol.list_auxiliary_states()}
    grads = {
        name: array_of(np.zeros_like(a.asnumpy())) for name, a in arrays.items() if _is_real(a)
    }
    executor = symbol.bind(
        mx.cpu(),
        arrays,
        args_grad=grads if call.train else None,
        aux_states=states,
        grad_req={name: "write" if name in grads and call.train else "null" for name in arrays},
    )
    outs = executor.forward(is_train=call.train)
    if call.train and grads:
        executor.backward([mx.nd.ones_like(out) for out in outs])
    mx.nd.waitall()
    return "ok"


def _is_real(array):
    return array.dtype in (np.float32, np.float64)


def _variable(i):
    return f"x{i}"


def _text(call):
    """The JSON of a symbol with this one operator."""
    n = len(call.inputs)
    nodes = [{"op": "null", "name": _variable(i), "inputs": []} for i in range(n)]
    attrs = {name: str(value) for name, value in call.attrs.items()}
    inputs = [[i, 0, 0] for i in range(n)]
    nodes.append({"op": call.record.name, "name": "node", "attrs": attrs, "inputs": inputs})
    content = {"nodes": nodes, "arg_nodes": list(range(n)), "heads": [[n, 0, 0]]}
    return json.dumps({**content, "attrs": {"mxnet_version": ["int", 10901]}})
