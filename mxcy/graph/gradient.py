"""Differentiation of graphs: appends the nodes of the backward pass."""

from mxcy._base.errors import MXNetError
from mxcy.graph.builder import Builder, Value
from mxcy.graph.graph import Graph

__all__ = ["gradient", "HEAD"]

#: name prefix of the variables for head gradients
HEAD = "__head_grad_"


def gradient(graph, wrt, has_head_grad=None, sum_cap=8, train=True, trace=None):
    """Append the backward pass of a graph.

    Parameters
    ----------
    graph : Graph
        A graph with specs.
    wrt : list of int
        Numbers of the variables to differentiate with respect to.
    has_head_grad : list of bool, optional
        For each output whether its gradient is an input: a variable named ``HEAD`` and the output's
        position. Otherwise it is ones, except for integer outputs.
    sum_cap : int
        With fewer summands than this, gradients are added by one operator (MXNET_EXEC_INPLACE_
        GRAD_SUM_CAP), otherwise by a chain that needs the memory of one.
    train : bool
        Whether operators of the backward pass run in training mode.
    trace : list, optional
        Collects (number, entries) for each differentiated node: the gradients of its inputs, or
        None.

    Returns
    -------
    Graph
        A graph whose outputs are those of `graph`, then the gradients of `wrt`, zeros if there is
        no path; `forward` is the number of nodes before the backward pass.
    """
    builder = Builder(train)
    builder.copy(graph)
    reached = _reached(graph, wrt)
    heads = []
    for position, entry in enumerate(graph.outputs):
        spec = graph.spec(entry)
        if has_head_grad is None or has_head_grad[position]:
            heads.append(builder.variable(f"{HEAD}{position}", spec))
        else:
            heads.append(None)
    forward = len(builder.nodes)
    sums = _Sums(builder, sum_cap)
    F = builder.values
    for entry, head in zip(graph.outputs, heads, strict=True):
        if reached[entry[0]]:
            value = Value(builder, entry)
            sums.add(entry, Value(builder, head) if head is not None else F.ones_like(value))
    for number in range(len(graph.nodes) - 1, -1, -1):
        if reached[number] and graph.nodes[number].op is not None:
            entries = _differentiate(builder, sums, reached, number)
            if trace is not None and entries:
                trace.append((number, entries))
    outputs = list(graph.outputs)
    for number in wrt:
        total = sums.take((number, 0))
        if total is None:
            total = F.zeros_like(Value(builder, (number, 0)))
        elif total.entry[0] < forward:
            # Head gradients are inputs, not results of the forward pass.
            total = F._copy(total)
        outputs.append(total.entry)
    return Graph(builder.nodes, outputs, builder.specs, forward)


def _reached(graph, wrt):
    """For each node whether it depends differentiably on one of the variables."""
    wanted = set(wrt)
    reached = []
    for number, node in enumerate(graph.nodes):
        if node.op is None:
            reached.append(number in wanted)
        else:
            reached.append(
                node.op.differentiable and any(reached[source] for source, _ in node.inputs)
            )
    return reached


class _Sums:
    """The gradients accumulated per entry."""

    def __init__(self, builder, cap):
        self._builder, self._cap, self._arrived = builder, cap, {}

    def add(self, entry, value):
        self._arrived.setdefault(entry, []).append(value)

    def take(self, entry):
        """The sum of an entry's gradients as a Value, or None."""
        parts = self._arrived.pop(entry, None)
        if parts is None:
            return None
        if len(parts) == 1:
            return parts[0]
        F = self._builder.values
        if len(parts) < self._cap:
            return F.elemwise_add(*parts) if len(parts) == 2 else F.add_n(*parts)
        total = parts[0]
        for part in parts[1:]:
            total = F.elemwise_add(total, part)
        return total


def _differentiate(builder, sums, reached, number):
    """Propagate gradients from a node's outputs to its inputs; return their entries or None."""
    node = builder.nodes[number]
    op, F = node.op, builder.values
    head_grads = [sums.take((number, index)) for index in range(node.count)]
    visible = op.visible(node.attrs)
    if all(value is None for value in head_grads[:visible]):
        return []
    outs = [Value(builder, (number, index)) for index in range(node.count)]
    for index in range(visible):
        if head_grads[index] is None:
            head_grads[index] = F.zeros_like(outs[index])
    needs = [reached[source] for source, _ in node.inputs]
    try:
        gradients = op.grad(
            node.attrs,
            F,
            head_grads[0] if len(head_grads) == 1 else head_grads,
            [Value(builder, entry) for entry in node.inputs],
            outs,
            needs,
            [builder.spec(entry) for entry in node.inputs],
        )
    except MXNetError as error:
        raise MXNetError(f"gradient of node {node.name}: {error}") from None
    entries = []
    for entry, need, value in zip(node.inputs, needs, gradients, strict=True):
        if need and value is not None:
            sums.add(entry, value)
            entries.append(value.entry)
        else:
            entries.append(None)
    return entries
