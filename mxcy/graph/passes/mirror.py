"""Mirroring: recomputation of forward values in the backward pass instead of storing them.

Nodes with attribute ``__force_mirroring__`` are always recomputed. With MXNET_BACKWARD_DO_MIRROR,
sets of cheap nodes are tried as well: each resulting graph is planned, and the one with the least
memory wins. MXNET_MEMORY_OPT tries more sets.

Nodes that draw random numbers or write variables are never recomputed, unless their record declares
that harmless (`repeatable`).
"""

from mxcy.graph.analysis.stages import best_stages
from mxcy.graph.graph import Graph, Node
from mxcy.graph.planning.memory import plan_memory
from mxcy.graph.planning.plan import prepare_all

__all__ = ["FORCE", "MIRROR", "marked", "run", "planned_bytes", "recompute", "repeatable", "staged"]

#: A node is cheap up to this many elementwise steps per element read or written.
_CHEAP_STEPS = 4
#: `extra` key of the user's choice for a node
FORCE = "__force_mirroring__"
#: `extra` key of recomputed nodes: the name of the original one
MIRROR = "__mirror_of__"
_YES = ("True", "true", "1")


def run(graph, target):
    """Choose the nodes to recompute; see the module."""
    settings = target.settings
    more = settings.get("MXNET_MEMORY_OPT", False)
    search = more or settings.get("MXNET_BACKWARD_DO_MIRROR", False)
    choices = [_choice(node) for node in graph.nodes[: graph.forward]]
    if graph.forward == len(graph.nodes) or not (search or any(choices)):
        return graph
    can = repeatable(graph)
    forced = [bool(choice and able) for choice, able in zip(choices, can, strict=True)]
    if not search:
        return recompute(graph, forced)
    calls = prepare_all(graph, target)

    def either(flags):
        return [a or b for a, b in zip(flags, forced, strict=True)]

    def cost(flags):
        return planned_bytes(graph, either(flags), calls, settings)

    cheap = _cheap(graph, can, choices, calls)
    tried = [forced, _cheaper_to_repeat(graph, cheap), cheap]
    if more:
        tried.append(best_stages(graph, cheap, cost))
    return recompute(graph, either(min(tried, key=cost)))


def staged(graph, target, marked=None, trials=12):
    """Choose the forward nodes to recompute so that only stage boundaries are kept.

    These include expensive operators; see `mxcy.graph.analysis.stages.best_stages`.

    Returns
    -------
    list of bool
    """
    calls = prepare_all(graph, target)

    def cost(flags):
        return planned_bytes(graph, flags, calls, target.settings)

    return best_stages(graph, repeatable(graph), cost, marked, trials)


def marked(graph, flags):
    """Set ``__force_mirroring__`` of the leading nodes according to flags.

    Parameters
    ----------
    graph : Graph
    flags : list of bool
        Flags of the leading nodes.
    """
    nodes = [
        Node(n.op, n.name, n.attrs, n.inputs, {**n.extra, FORCE: str(flag)}) if n.op else n
        for n, flag in zip(graph.nodes, flags, strict=False)
    ]
    nodes += graph.nodes[len(nodes) :]
    return Graph(nodes, graph.outputs, graph.specs, graph.forward)


def planned_bytes(graph, chosen, calls, settings):
    """The arena size of a graph that recomputes nodes, excluding its outputs.

    Parameters
    ----------
    graph : Graph
    chosen : list of bool
        See `recompute`.
    calls : list of Call
        Calls of the nodes of `graph`.
    settings : dict
    """
    repeated, origins = _repeat(graph, chosen)
    calls = [calls[number] for number in origins]
    return plan_memory(repeated, calls, set(repeated.outputs), settings).total


def _choice(node):
    """The user's choice: True, False or None for unspecified."""
    text = node.extra.get(FORCE)
    if text is not None:
        return text in _YES
    return False if node.extra.get("__mirror_stage__") in _YES else None


def repeatable(graph):
    """For each node of the forward pass whether recomputing it is harmless."""
    written = {entry for node in graph.nodes for entry in node.mutates()}
    flags = []
    for node in graph.nodes[: graph.forward]:
        op = node.op
        if op is None or op.uses_rng or op.foreign is not None:
            flags.append(False)
        elif op.repeatable:
            flags.append(True)
        else:
            flags.append(not any(entry in written for entry in node.inputs))
    return flags


def _cheap(graph, can, choices, calls):
    """For each node of the forward pass whether it may be recomputed automatically."""
    returned = {number for number, _ in graph.outputs}
    flags = []
    for number, (able, choice) in enumerate(zip(can, choices, strict=True)):
        call = calls[number]
        if not able or choice is False or number in returned:
            flags.append(False)
        else:
            touched = sum(spec.size for spec in (*call.ins, *call.outs))
            flags.append(call.work <= _CHEAP_STEPS * touched)
    return flags


def _cheaper_to_repeat(graph, cheap):
    """The cheap nodes whose inputs take less memory than their results.

    Forward sweep: the cost of having each node's inputs, given what the backward pass reads itself.
    Backward sweep: decide for each needed node, and mark its inputs as needed.
    """
    needed = {
        entry[0]
        for node in graph.nodes[graph.forward :]
        for position, entry in enumerate(node.inputs)
        if entry[0] < graph.forward and position not in node.op.ignored
    }
    returned = {number for number, _ in graph.outputs}
    cost, again = [], []
    for number, node in enumerate(graph.nodes[: graph.forward]):
        own = sum(spec.nbytes for spec in graph.specs[number])
        inputs = {source for source, _ in node.inputs}
        inputs_cost = sum(cost[source] for source in inputs) if cheap[number] else own
        again.append(inputs_cost)
        free = node.op is None or number in returned or number in needed
        cost.append(0 if free else min(own, inputs_cost))
    chosen = [False] * graph.forward
    for number in range(graph.forward - 1, -1, -1):
        node = graph.nodes[number]
        if number in needed and cheap[number]:
            own = sum(spec.nbytes for spec in graph.specs[number])
            if again[number] < own:
                chosen[number] = True
                needed.update(source for source, _ in node.inputs)
    return chosen


def recompute(graph, chosen):
    """Let the backward pass read recomputed copies of the chosen nodes.

    Parameters
    ----------
    graph : Graph
        A graph with a backward pass.
    chosen : list of bool
        Flags of the nodes of the forward pass.
    """
    return _repeat(graph, chosen)[0] if any(chosen) else graph


def _repeat(graph, chosen):
    """Run `recompute`; also return the original node of each new one."""
    forward = graph.forward
    origins = list(range(forward))
    nodes, specs = list(graph.nodes[:forward]), list(graph.specs[:forward])
    twins, moved = {}, {}

    def entry_now(entry):
        source, index = entry
        return twins.get(source, source) if source < forward else moved[source], index

    def append(node, number):
        inputs = [entry_now(entry) for entry in node.inputs]
        name, extra = node.name, node.extra
        if number < forward:
            name, extra = f"{name}_mirror", {**extra, MIRROR: node.name}
        nodes.append(Node(node.op, name, node.attrs, inputs, extra))
        specs.append(graph.specs[number])
        origins.append(number)
        return len(nodes) - 1

    def make_twin(number):
        stack = [number]
        while stack:
            node = graph.nodes[stack[-1]]
            lacking = [s for s, _ in node.inputs if chosen[s] and s not in twins]
            if lacking:
                stack += lacking
                continue
            number = stack.pop()
            if number not in twins:
                twins[number] = append(node, number)

    for number in range(forward, len(graph.nodes)):
        node = graph.nodes[number]
        for position, (source, _) in enumerate(node.inputs):
            wanted = source < forward and chosen[source] and source not in twins
            if wanted and position not in node.op.ignored:
                make_twin(source)
        moved[number] = append(node, number)
    outputs = [(moved.get(number, number), index) for number, index in graph.outputs]
    return Graph(nodes, outputs, specs, forward), origins
