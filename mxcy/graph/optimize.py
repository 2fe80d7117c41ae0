"""The passes in their order."""

from mxcy.graph.verify import verify

__all__ = ["optimize"]

#: of inference graphs and of training graphs
INFERENCE: tuple = ()
TRAINING: tuple = ()


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
        That computes the same outputs.
    """
    for run in TRAINING if training else INFERENCE:
        graph = run(graph, target)
        if "passes" in target.settings["MXCY_VERBOSE"]:
            verify(graph, run.__module__)
    return graph
