"""On which device each node of a graph is placed by the groups of `AttrScope(ctx_group=...)`."""

__all__ = ["placed"]


def placed(graph, group2ctx, default):
    """The context of each node.

    A node is where its group is; without one it follows its inputs, then its users.

    Parameters
    ----------
    graph : Graph
    group2ctx : dict of str to Context
        The context of each group; other groups count as none.
    default : Context
        Where nodes are that no group reaches.

    Returns
    -------
    list of Context
    """
    contexts = [group2ctx.get(_group(node)) for node in graph.nodes]
    for number, node in enumerate(graph.nodes):
        if contexts[number] is None:
            sources = (contexts[source] for source, _ in node.inputs)
            contexts[number] = next((ctx for ctx in sources if ctx is not None), None)
    for number in range(len(graph.nodes) - 1, -1, -1):
        for source, _ in graph.nodes[number].inputs:
            if contexts[source] is None:
                contexts[source] = contexts[number]
    return [default if ctx is None else ctx for ctx in contexts]


def _group(node):
    return node.extra.get("ctx_group", node.extra.get("__ctx_group__"))
