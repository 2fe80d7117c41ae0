"""Value-dependent control flow, executed step by step."""

import functools

from mxcy import autograd
from mxcy._base import dtypes
from mxcy.graph.control import CACHED_OP, COND, FOREACH, WHILE_LOOP
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.json import loads
from mxcy.graph.node import SymbolNode, replace_variables, topological
from mxcy.ndarray._contrib import control
from mxcy.ndarray._functions import creation
from mxcy.ndarray.register import F
from mxcy.ops.core.infer import Spec

__all__ = ["runner"]

# The overhead of a call equals several short steps on small arrays, so these are batched.
_AT_ONCE = 8
_FEW = 32  # maximum number of operators per step
_SMALL = 1 << 14  # maximum total size of a loop's inputs


def runner(node, compiled):
    """Make ``run(inputs)``, which maps a list of a node's inputs to a list of its outputs.

    Parameters
    ----------
    node : SymbolNode
        A control flow operator.
    compiled : callable
        ``compiled(entries)`` makes a function from a list of a graph's inputs to a list of its
        outputs; with ``expanded=True`` a plan runs all steps of its loops.

    Returns
    -------
    callable
    """
    make = {COND: _branch, FOREACH: _for_each, WHILE_LOOP: _while, CACHED_OP: _body}[node.op]
    return make(node, node.parsed, compiled)


def _body(node, a, compiled):
    return compiled(loads(a.body))


def _branch(node, a, compiled):
    parts = [
        (compiled(loads(text)), places)
        for text, places in (
            (a.cond, a.cond_input_locs),
            (a.then_branch, a.then_input_locs),
            (a.else_branch, a.else_input_locs),
        )
    ]

    def run(inputs):
        condition, then, other = (
            functools.partial(body, [inputs[i] for i in places]) for body, places in parts
        )
        return control.cond(condition()[0], then, other)

    return run


def _for_each(node, a, compiled):
    body, count, states = compiled(loads(a.body)), len(a.in_data_locs), len(a.in_state_locs)
    places = (*a.in_data_locs, *a.in_state_locs, *a.remain_locs)
    order = sorted(range(len(places)), key=places.__getitem__)

    def run(inputs):
        last, steps = inputs[count : count + states], []
        for i in range(len(inputs[0])):
            # elements of vectors have shape (1,)
            elements = [x[i : i + 1] if x.ndim == 1 else x[i] for x in inputs[:count]]
            arrays = [*elements, *last, *inputs[count + states :]]
            outputs = body([arrays[place] for place in order])
            steps.append(outputs[: a.num_out_data])
            last = outputs[a.num_out_data :]
        return [*(F.stack(*arrays) for arrays in zip(*steps, strict=True)), *last]

    return run


def _while(node, a, compiled):
    single_step, several_steps = _step(a), _steps(node, a)
    begins, step = compiled(loads(a.cond)), compiled(single_step)
    together = _may_be_in_vain(single_step)
    steps = compiled(several_steps, expanded=True) if together else step
    of_step, of_steps = map(_numbers_of_variables, (single_step, several_steps))
    places = [a.func_input_locs[i] for i in a.func_var_locs]

    def run(inputs):
        arrays, count, blocks = list(inputs), 0, []
        several = together and sum(array.size for array in inputs) <= _SMALL
        (flag,) = begins([arrays[i] for i in a.cond_input_locs])
        while count < a.max_iterations and flag.asnumpy().item():
            if several and count + _AT_ONCE <= a.max_iterations:
                *outputs, flag = steps([arrays[i] for i in of_steps])
                blocks.append(outputs[: a.num_out_data])
                count += _AT_ONCE
            else:
                *outputs, flag = step([arrays[i] for i in of_step])
                blocks.append([F.expand_dims(x, axis=0) for x in outputs[: a.num_out_data]])
                count += 1
            for place, array in zip(places, outputs[a.num_out_data :], strict=True):
                arrays[place] = array
        outputs = _joined(node, a, inputs, blocks, a.max_iterations - count)
        return [*outputs, *(arrays[place] for place in places)]

    return run


def _step(a):
    """Build the graph of a loop's step: its outputs, and the condition for another step.

    Variables are named after the positions of the loop's inputs.
    """
    now = {i: (SymbolNode(None, str(i)), 0) for i in (*a.func_input_locs, *a.cond_input_locs)}
    outputs = _with_variables(a.func, [now[i] for i in a.func_input_locs])
    return [*outputs, *_follows(a, now, outputs)]


def _steps(node, a):
    """Build a graph of several steps as a bounded loop; steps after its end have no effect."""
    now = {i: (SymbolNode(None, str(i)), 0) for i in range(len(node.inputs))}
    attrs = {**node.attrs, "max_iterations": str(_AT_ONCE)}
    loop = SymbolNode(node.op, node.name, attrs, list(now.values()))
    outputs = [(loop, i) for i in range(a.num_outputs)]
    return [*outputs, *_follows(a, now, outputs)]


def _follows(a, now, outputs):
    """The loop condition after steps with these outputs."""
    changed = zip(a.func_var_locs, outputs[a.num_out_data :], strict=True)
    after = {**now, **{a.func_input_locs[i]: entry for i, entry in changed}}
    return _with_variables(a.cond, [after[i] for i in a.cond_input_locs])


def _with_variables(text, sources):
    """The outputs of a body with its variables replaced by entries."""
    entries = loads(text)
    names = [node.name for node in topological(entries) if node.op is None]
    return replace_variables(entries, dict(zip(names, sources, strict=True)))


def _numbers_of_variables(entries):
    return [int(node.name) for node in topological(entries) if node.op is None]


def _may_be_in_vain(entries):
    """Whether a surplus step is harmless: it is short and neither random nor stateful."""
    operations = [node for node in topological(entries) if node.op is not None]
    return len(operations) <= _FEW and not any(
        node.op.draws(node.parsed)
        or node.op.aux
        or node.op.foreign is not None
        or node.op.in_symbols.subgraphs
        for node in operations
    )


def _joined(node, a, inputs, blocks, missing):
    """Concatenate the outputs of a loop's steps, with zeros for steps that did not run."""
    parts = [list(arrays) for arrays in zip(*blocks, strict=True)]
    kinds = [(arrays[0].shape[1:], arrays[0].dtype) for arrays in parts]
    if not blocks:
        specs = _specs(node, inputs)[: a.num_out_data]
        parts = [[] for _ in specs]
        kinds = [(spec.shape[1:], dtypes.dtype_of(spec.dtype)) for spec in specs]
    if missing:
        for arrays, (shape, dtype) in zip(parts, kinds, strict=True):
            arrays.append(creation.zeros((missing, *shape), inputs[0].context, dtype))
    return [F.concat(*arrays, dim=0) if len(arrays) > 1 else arrays[0] for arrays in parts]


def _specs(node, inputs):
    """The shapes and dtypes of a node's outputs."""
    known = {f"in{i}": Spec(array.shape, array.dtype_code) for i, array in enumerate(inputs)}
    alone = SymbolNode(node.op, node.name, node.attrs, [(SymbolNode(None, n), 0) for n in known])
    entries = [(alone, index) for index in range(len(node.outputs()))]
    graph = infer(from_entries(entries, autograd.is_training()), known)
    return [graph.specs[number][index] for number, index in graph.outputs]
