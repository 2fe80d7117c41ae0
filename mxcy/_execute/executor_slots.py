"""Mapping of plan slots to an executor's arrays."""

from mxcy.graph.builder import Builder
from mxcy.graph.gradient import HEAD

__all__ = ["add_to_gradients", "head_slots_of", "sources_of"]

#: name prefix of variables that hold the previous gradients for grad_req='add'
_SUM = "__grad_sum_"


def add_to_gradients(graph, skip, wanted, adding):
    """Replace gradients with grad_req='add' by ``grad + gradient``."""
    if not adding:
        return graph
    builder = Builder(True)
    builder.copy(graph)
    outputs = list(graph.outputs)
    for position, name in enumerate(wanted, skip):
        if name in adding:
            before = builder.variable(_SUM + name, graph.spec(outputs[position]))
            outputs[position] = builder.add("elemwise_add", {}, [before, outputs[position]])
    return builder.finish(outputs, graph.forward)


def head_slots_of(planned, graph, count):
    """List the head gradients, out of `count`, that a plan reads.

    Each is (slot, output index, whether the training graph uses more of it than its shape).
    """
    heads = {f"{HEAD}{position}": position for position in range(count)}
    used = {
        graph.nodes[source].name
        for node in graph.nodes
        for position, (source, _) in enumerate(node.inputs)
        if position not in node.op.ignored
    }
    return [
        (slot, heads[name], name in used)
        for slot, name in enumerate(planned.variables)
        if name in heads
    ]


def sources_of(planned, arguments, states, outputs, wanted):
    """For each slot of a plan, locate its array: (index of a list, position in it).

    The lists are arguments, auxiliary states, gradients and outputs, of which the first three
    parameters and `outputs` are the names; `wanted` names the arguments with gradients.
    """
    place = {name: (kind, i) for kind in (0, 1) for i, name in enumerate((arguments, states)[kind])}
    gradient = {name: (2, i) for i, name in enumerate(arguments)}
    # Backward sets the head gradients; until then any array serves as a placeholder.
    slots = [
        gradient[name.removeprefix(_SUM)] if name.startswith(_SUM) else place.get(name, (3, 0))
        for name in planned.variables
    ]
    slots += [(3, i) for i in range(len(outputs))]
    if len(planned.outputs) > len(outputs):
        slots += [gradient[name] for name in wanted]
    return slots
