"""The sequence of passes."""

import sys

from mxcy.graph.passes import (
    attention,
    casts,
    channels,
    cse,
    dce,
    excitation,
    fold,
    fuse,
    gradient_sums,
    int8,
    layers,
    layout,
    mirror,
    mixed,
    norm_sums,
    pixels,
    portions,
    products,
    recurrent,
    same_types,
    shifts,
    simplify,
    single_steps,
    training_layout,
    widen,
)
from mxcy.graph.planning.report import change
from mxcy.graph.verify import verify

__all__ = ["optimize"]

#: passes on inference graphs: general ones, and those of the backend ONEDNN
INFERENCE = (simplify.run, same_types.run, fold.run, widen.run, cse.run, recurrent.run)
BACKEND = (
    casts.run,
    single_steps.run,
    attention.run,
    mixed.run,
    products.run,
    pixels.run,
    layers.run,
    int8.run,
    channels.run,
    portions.run,
    layout.run,
    excitation.run,
)
#: passes on graphs with a backward pass
TRAINING = (
    dce.run,
    simplify.run,
    shifts.run,
    same_types.run,
    fold.run,
    widen.run,
    cse.run,
    mirror.run,
    training_layout.run,
    gradient_sums.run,
    norm_sums.run,
)
#: final passes on all graphs
LAST = (fuse.run,)


def _partition(graph, target):
    """Run the passes of the backend, reporting before and after."""
    backend, before = target.settings["MXNET_SUBGRAPH_BACKEND"], len(graph.nodes)
    print(f"mxcy starts to partition {before} nodes for {backend}", file=sys.stderr, flush=True)
    for run in BACKEND:
        graph = run(graph, target)
    print(f"mxcy has partitioned: {len(graph.nodes)} nodes", file=sys.stderr, flush=True)
    return graph


def optimize(graph, target, training=False):
    """Run the passes on a graph with specs.

    Parameters
    ----------
    graph : Graph
    target : Target
    training : bool
        Whether the graph has a backward pass.

    Returns
    -------
    Graph
        A graph that computes the same outputs.
    """
    passes: tuple = TRAINING if training else INFERENCE
    if not training and target.settings["MXNET_SUBGRAPH_BACKEND"] != "NONE":
        passes += BACKEND
        if target.settings["MXNET_SUBGRAPH_VERBOSE"]:
            passes = (*passes[: -len(BACKEND)], _partition)
    for run in (*passes, *LAST):
        before, graph = graph, run(graph, target)
        if "passes" in target.settings["MXCY_VERBOSE"]:
            name = run.__module__.rpartition(".")[2]
            verify(graph, name)
            print(f"mxcy {change(name, before, graph)}", flush=True)
    return graph
