"""Calls of custom operators, eager or as steps of plans, as engine operations.

The methods receive separate arrays over the same memory, so that operators called there do not wait
for the enclosing operation, which ends after them.
"""

import traceback
from pathlib import Path

from mxcy._base.errors import TracedValueError, caller
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import current_context
from mxcy.custom.described import NAME
from mxcy.custom.objects import Objects, living
from mxcy.custom.threads import Threads
from mxcy.gpu import views
from mxcy.graph.node import SymbolNode
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import Op, find

__all__ = ["Backward", "Forward"]

_PACKAGE = f"{Path(__file__).resolve().parents[1]}/"
_threads = Threads()
# Profiler constants: the event kind, and flags for eager calls and plans.
_OPERATOR, _OPERATORS = 0, 3


# --- as operations of the engine -----------------------------------------------------------------


def _window(array, context, writable):
    """Make a separate array over the memory of another."""
    window = front.from_memory(array.address, array, array.shape, array.dtype_code, context)
    window.writable = writable
    return window


def _windows(arrays, context, writable):
    return [None if array is None else _window(array, context, writable) for array in arrays]


def _explained(method, error):
    """Format an exception in a method, with the line that raised it."""
    where = [
        f" ({Path(frame.filename).name}:{frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_PACKAGE, "<"))
    ]
    kind = "" if isinstance(error, MXNetError) else f"{type(error).__name__}: "
    return f"{method}: {kind}{error}{where[-1] if where else ''}"


def _source(described, method):
    """The profiler source of a method's Python code, which includes operators called there."""
    name = f"{'_backward_' * (method == 'backward')}{described.op_type}::pure_python"
    return front.recorder.source(_OPERATOR, "Custom Operator", name)


def _push(described, method, work, reads, writes, train, context):
    """Schedule ``work(settling)`` on a separate thread when its arrays are ready.

    It adds the arrays to wait for at the end to the list `settling`.
    """

    def job(completion):
        settling, text, recorder = [], None, front.recorder
        began = recorder.now() if recorder.bits() & _OPERATORS else 0
        whole = _source(described, method) if began else 0
        outside = recorder.inside(whole)
        before = front.set_recording(False), front.set_training(train)
        try:
            with context:
                work(settling)
                if context.device_type == "gpu":
                    views.finish()
        except BaseException as error:
            text = _explained(method, error)
        finally:
            front.set_recording(before[0])
            front.set_training(before[1])
            recorder.inside(outside)
            if began:
                recorder.add(whole, began, recorder.now())
        for array in settling:
            try:
                array.wait_to_write()
            except Exception as error:
                text = text or _explained(method, error)
        completion(text) if text else completion()

    def start(completion):
        _threads.submit(lambda: job(completion))

    front.push(
        start,
        list(reads),
        list(writes),
        f"{NAME} ({described.op_type})",
        caller(),
        0,
        "async",
        context.device_typeid,
        context.device_id,
    )


def _forward(described, operator, ins, outs, states, train, context, reads=(), number=None):
    """Push a forward pass; the last output, if present, is set to the object's number."""
    hidden = [] if number is None else [outs[-1]]
    outs = outs[: len(described.outputs)]

    def work(settling):
        windows = _windows(ins, context, False)
        taken, aux = _windows(outs, context, True), _windows(states, context, True)
        settling += windows + taken + aux
        operator.forward(
            is_train=train, req=["write"] * len(taken), in_data=windows, out_data=taken, aux=aux
        )
        for array in hidden:
            window = _window(array, context, True)
            if window.on_device:
                window[:] = number
            else:
                window.numpy_view()[...] = number

    writes = [*outs, *states, *hidden]
    _push(described, "forward", work, [*ins, *reads], writes, train, context)


def _backward(described, find, row, grads, states, train, context, reads=()):
    """Push a backward pass.

    Parameters
    ----------
    find : callable
        ``find()`` returns the object that ran the forward pass.
    row : list of NDArray or None
        Output gradients, inputs and outputs; None for those not read.
    grads : list of (NDArray, bool)
        For each input the gradient array, and whether it is required.
    """
    outs, count = len(described.outputs), len(described.arguments)

    def work(settling):
        windows = _windows(row, context, False)
        taken = _windows([array for array, _ in grads], context, True)
        aux = _windows(states, context, True)
        settling += [array for array in windows if array is not None] + taken + aux
        find().backward(
            req=["write" if wanted else "null" for _, wanted in grads],
            out_grad=windows[:outs],
            in_data=windows[outs : outs + count],
            out_data=windows[outs + count :],
            in_grad=taken,
            aux=aux,
        )

    read = [array for array in row if array is not None]
    writes = [array for array, wanted in grads if wanted] + list(states)
    _push(described, "backward", work, [*read, *reads], writes, train, context)


def _make_operator(described, ins, context):
    """Create an operator object for inputs."""
    where = f"Error in operator {NAME} ({described.op_type}): "
    try:
        created = described.prop.create_operator(
            context, [list(array.shape) for array in ins], [array.dtype_code for array in ins]
        )
    except Exception as error:
        raise MXNetError(where + _explained("create_operator", error)) from error
    if created is None:
        raise MXNetError(f"{where}create_operator must return a CustomOp, got None")
    return created


# --- the two operators ---------------------------------------------------------------------------


class Forward:
    """Runs the forward pass of an operator.

    Parameters
    ----------
    described : mxcy.custom.described.Described

    Attributes
    ----------
    record : Op
    attrs : dict of str to str
        Attributes as str.
    """

    record: Op
    attrs: dict

    def __init__(self, described):
        self.described = described

    def run(self, step, ins, outs, arena, fresh, context):
        """Run a step of a plan."""
        described = self.described
        count = len(described.arguments)
        if step.kept is None:
            step.kept = Objects()
        operator, number = step.kept.of_run(
            arena, lambda: _make_operator(described, ins[:count], context)
        )
        train, reads = step.call.attrs.train, [] if fresh else [arena]
        _forward(described, operator, ins[:count], outs, ins[count:], train, context, reads, number)

    def function(self, *arrays, out=None, **named):
        """Call the operator with arrays by position or name; attributes are fixed."""
        described = self.described
        names = (*described.arguments, *described.states)
        if len(arrays) > len(names):
            raise MXNetError(
                f"Error in operator {NAME} ({described.op_type}): expected {len(names)} "
                f"inputs ({', '.join(names)}), got {len(arrays)}"
            )
        by_name = dict(zip(names, arrays, strict=False))
        by_name.update(
            (name, value) for name, value in named.items() if isinstance(value, front.NDArrayBase)
        )
        lacking = [name for name in names if not isinstance(by_name.get(name), front.NDArrayBase)]
        if lacking or len(by_name) > len(names):
            what = (
                f"argument {lacking[0]} must be an NDArray"
                if lacking
                else (f"expected only {', '.join(names)}, got {', '.join(by_name)}")
            )
            raise MXNetError(f"Error in operator {NAME} ({described.op_type}): {what}")
        return self._call([by_name[name] for name in names], out)

    def _call(self, inputs, out):
        """Check that arrays are dense, as custom operators require."""
        for array in out if isinstance(out, (list, tuple)) else () if out is None else (out,):
            if array.stype != "default":
                raise MXNetError(
                    f"Error in operator {NAME} ({self.described.op_type}): argument out: expected "
                    f"a dense array, got storage type {array.stype!r}"
                )
        dense = [x if x.stype == "default" else x.tostype("default") for x in inputs]
        result = self._call_dense(dense, out)
        first = len(self.described.arguments)
        for array, state in zip(inputs[first:], dense[first:], strict=True):
            if state is not array:
                state.tostype(array.stype).copyto(array)
        return result

    def _call_dense(self, inputs, out):
        if front.is_deferred():
            raise TracedValueError(f"deferred computation: {NAME} runs Python code")
        described, count = self.described, len(self.described.arguments)
        context = inputs[0].context.home if inputs else current_context()
        train = bool(front.is_training())
        specs = [Spec(array.shape, array.dtype_code) for array in inputs]
        outs = self.record.infer(None, specs)[:-1]
        ins, states = inputs[:count], inputs[count:]
        operator = _make_operator(described, ins, context)
        arrays = self._targets(outs, out, context)
        _forward(described, operator, ins, arrays, states, train, context)
        for array in (*states, *(arrays if out is not None else ())):
            array.touch()
        if front.is_recording() and any([front.history(array) is not None for array in ins]):
            node = front.Node()
            node.custom = _Recorded(self, operator, ins, arrays, states, train, context)
            node.parents = tuple([array.node for array in ins])
            node.positions = tuple([array.node_index for array in ins])
            for index, array in enumerate(arrays):
                array.node, array.node_index = node, index
        if out is not None:
            return out
        return arrays[0] if len(arrays) == 1 else arrays

    def _targets(self, specs, out, context):
        """Allocate or check the outputs."""
        where = f"Error in operator {NAME} ({self.described.op_type}):"
        for name, spec in zip(self.described.outputs, specs, strict=True):
            if not spec.known:
                raise MXNetError(f"{where} infer_shape and infer_type do not describe {name}")
        if out is None:
            return [front.empty(tuple(spec.shape), spec.dtype, context) for spec in specs]
        arrays = list(out) if isinstance(out, (list, tuple)) else [out]
        if len(arrays) != len(specs):
            raise MXNetError(f"{where} out: expected {len(specs)} arrays, got {len(arrays)}")
        for array, spec in zip(arrays, specs, strict=True):
            if Spec(array.shape, array.dtype_code) != spec:
                raise MXNetError(f"{where} argument out: expected {spec}, got {array.shape}")
        return arrays


class Backward:
    """Runs the backward pass of an operator in plans.

    Parameters
    ----------
    described : mxcy.custom.described.Described
    needs : tuple of bool
        Which inputs require gradients.
    specs : list of Spec
        Specs of the inputs.
    """

    def __init__(self, described, needs, specs):
        self.described, self.needs, self.specs = described, needs, specs

    def run(self, step, ins, outs, arena, fresh, context):
        """Run a step of a plan."""
        described = self.described
        reads = len(described.needed)
        state, objects = ins[-1], living()

        def find():
            return objects[int(_window(state, context, False).numpy_view()[0])]

        count = 2 * len(described.outputs) + len(described.arguments)
        row = [None] * count
        for number, array in zip(sorted(described.needed), ins[:reads], strict=True):
            row[number] = array
        left = iter(outs)
        grads = [
            (next(left), True)
            if need
            else (front.empty(tuple(spec.shape), spec.dtype, context), False)
            for need, spec in zip(self.needs, self.specs, strict=True)
        ]
        _backward(described, find, row, grads, ins[reads:-1], True, context, [arena])


class _Recorded:
    """A recorded call."""

    def __init__(self, forward, operator, ins, outs, states, train, context):
        self._forward, self._described = forward, forward.described
        self._operator, self._states = operator, states
        self._train, self._context = train, context
        self._ins = [array.detach() for array in ins]
        # The outputs refer to the tape's node, which refers to this object: keep only views.
        self._outs = [array.detach() for array in outs]
        self._parents = [array.node is not None for array in ins]

    def _expressed(self, name, inputs):
        """The outputs as symbol entries, given those of the inputs; see `mxcy.symbol.recorded`."""
        states = [(SymbolNode(None, "null"), 0) for _ in self._states]
        node = SymbolNode(self._forward.record, name, self._forward.attrs, [*inputs, *states])
        return [(node, i) for i in range(len(self._outs))]

    def _gradients(self, arrived, keep):
        described, context = self._described, self._context
        heads = [arrived.get(i) for i in range(len(self._outs))]
        for i, array in enumerate(self._outs):
            if heads[i] is None:
                heads[i] = front.call(front.bind(find("zeros_like")), (array,), (), None, {})
        row = [*heads, *self._ins, *self._outs]
        row = [array if n in described.needed else None for n, array in enumerate(row)]
        grads = [
            (front.empty(array.shape, array.dtype_code, context), wanted)
            for array, wanted in zip(self._ins, self._parents, strict=True)
        ]
        operator = self._operator
        _backward(described, lambda: operator, row, grads, self._states, self._train, context)
        return [array if wanted else None for array, wanted in grads]
