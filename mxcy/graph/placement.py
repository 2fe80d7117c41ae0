"""Device placement of nodes by the groups of `AttrScope(ctx_group=...)`."""

__all__ = ["placed"]


def placed(graph, group2ctx, default, known=()):
    """Compute the context of each node.

    A node is placed by its group, otherwise like its inputs, otherwise like its users.

    Parameters
    ----------
    graph : Graph
    group2ctx : dict of str to Context
        Context of each group; other groups are ignored.
    default : Context
        Context of nodes without a group, directly or indirectly.
    known : dict of str to Context, optional
        Contexts of variables, which take precedence over those of their groups.

    Returns
    -------
    list of Context
    """
    contexts = [
        known[node.name] if node.op is None and node.name in known else group2ctx.get(_group(node))
        for node in graph.nodes
    ]
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
