"""Human-readable reports on passes and plans, for MXCY_VERBOSE=passes and `describe`."""

from mxcy.graph.passes.fuse import FUSED
from mxcy.graph.passes.mirror import MIRROR
from mxcy.graph.planning.segments import segments

__all__ = ["change", "describe", "list_memory", "list_steps", "summary"]


def change(name, before, after):
    """Describe the effect of one pass in a line.

    Parameters
    ----------
    name : str
    before, after : Graph

    Returns
    -------
    str
        For example ``"pass cse: 12 -> 11 nodes (exp 2 -> 1)"``.
    """
    text = f"pass {name}: {len(before.nodes)}"
    if after is before:
        return f"{text} nodes, nothing to do"
    old, new = before.count_ops(), after.count_ops()
    differences = [
        f"{op} {old.get(op, 0)} -> {new.get(op, 0)}"
        for op in sorted({*old, *new})
        if old.get(op, 0) != new.get(op, 0)
    ]
    return f"{text} -> {len(after.nodes)} nodes ({', '.join(differences) or 'other inputs'})"


def describe(graph, plan, settings, training=False):
    """Describe the optimized graph and its plan.

    Parameters
    ----------
    graph : Graph
        The graph after the passes.
    plan : mxcy.graph.planning.plan.Plan
        Its plan.
    settings : dict
        The settings used for planning.
    training : bool
        Whether it runs in training mode.

    Returns
    -------
    dict
        ``bytes`` of the arena, ``buffers`` (sizes in bytes), ``match_range``, ``store`` (bytes kept
        between runs), ``steps``, ``inplace`` (pairs of names: a node and the one whose memory its
        output reuses), ``fused`` (lists of names), ``recomputed`` (names), ``segments`` (pairs of
        step numbers, for the forward and for the backward pass).
    """
    nodes, memory = graph.nodes, plan.memory
    forward, backward = segments(plan, settings, training)
    return {
        "bytes": plan.arena,
        "buffers": list(memory.buffers),
        "match_range": memory.match_range,
        "store": sum(s.nbytes for i, s in enumerate(plan.kept) if i not in plan.intermediate),
        "steps": len(plan.steps),
        "inplace": [
            (nodes[number].name, nodes[nodes[number].inputs[position][0]].name)
            for number, position, _ in memory.inplace
        ],
        "fused": [node.extra[FUSED].split() for node in nodes if FUSED in node.extra],
        "recomputed": [node.extra[MIRROR] for node in nodes if MIRROR in node.extra],
        "segments": {"forward": forward, "backward": backward},
    }


def summary(description):
    """Summarize the result of `describe` in one line."""
    fused = description["fused"]
    how = f"match range {description['match_range']}" if description["match_range"] else "packed"
    parts = [
        f"{description['steps']} steps",
        f"{description['bytes']} bytes in {len(description['buffers'])} buffers ({how})",
        f"{description['store']} bytes kept",
        f"{len(description['inplace'])} in place",
        f"{sum(map(len, fused))} operators in {len(fused)} fused groups",
        f"{len(description['recomputed'])} recomputed",
    ]
    counts = [len(pairs) for pairs in description["segments"].values()]
    return f"plan: {', '.join(parts)}, segments {counts[0]} + {counts[1]}"


def list_steps(plan):
    """List the steps of a plan: operator, name, kernel and results."""
    return [
        f"{number}: {step.call.op.name} {step.name} by {step.call.kernel or 'ref'} -> "
        f"{', '.join(map(str, step.call.outs))}"
        for number, step in enumerate(plan.steps)
    ]


def list_memory(graph, plan):
    """List the arena of a plan: size and offset of each result."""
    nodes, offsets = graph.nodes, plan.memory.offsets
    shared = {(number, index) for number, _, index in plan.memory.inplace}
    return [
        f"{nodes[number].name}[{index}]: {graph.spec((number, index)).nbytes} bytes at "
        f"{offsets[number, index]}{' in place' if (number, index) in shared else ''}"
        for number, index in sorted(offsets)
    ] + [f"total: {plan.arena} bytes"]
