"""Which arrays of an executor the slots of its plans stand for."""

from mxcy.graph.builder import Builder
from mxcy.graph.gradient import HEAD

__all__ = ["add_to_gradients", "head_slots_of", "sources_of"]

#: what the names of variables start with that hold gradients which are added to
_SUM = "__grad_sum_"


def add_to_gradients(graph, skip, wanted, adding):
    """The graph with ``grad + gradient`` in place of the gradients that are to be added."""
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


def head_slots_of(planned, count):
    """(slot, number of the output) for each head gradient, of `count` ones, that a plan reads."""
    heads = {f"{HEAD}{position}": position for position in range(count)}
    return [(slot, heads[name]) for slot, name in enumerate(planned.variables) if name in heads]


def sources_of(planned, arguments, states, outputs, wanted):
    """For each slot of a plan where its array is: the number of a list, and the place in it.

    The lists are those of arguments, auxiliary states, gradients and outputs, whose names these
    are; `wanted` names the arguments with gradients.
    """
    place = {name: (kind, i) for kind in (0, 1) for i, name in enumerate((arguments, states)[kind])}
    gradient = {name: (2, i) for i, name in enumerate(arguments)}
    # Heads are set by backward; until then any array keeps their slots.
    slots = [
        gradient[name.removeprefix(_SUM)] if name.startswith(_SUM) else place.get(name, (3, 0))
        for name in planned.variables
    ]
    slots += [(3, i) for i in range(len(outputs))]
    if len(planned.outputs) > len(outputs):
        slots += [gradient[name] for name in wanted]
    return slots
