"""Well-formedness check of graphs, run between passes in tests and with MXCY_VERBOSE=passes."""

from mxcy._base.errors import MXNetError
from mxcy.ops.core.infer import Spec

__all__ = ["verify"]


def verify(graph, after=""):
    """Check order, entries, input counts and, if present, specs.

    Parameters
    ----------
    graph : Graph
    after : str
        The pass that made the graph, for messages.

    Raises
    ------
    MXNetError
        Naming the pass and the node.
    """

    def require(condition, node, message):
        if not condition:
            raise MXNetError(f"graph after {after or 'construction'}: node {node}: {message}")

    names = set()
    for number, node in enumerate(graph.nodes):
        for source, index in node.inputs:
            require(0 <= source < number, node.name, f"input {source} does not come before it")
            require(
                0 <= index < graph.nodes[source].count, node.name, f"input {source} lacks {index}"
            )
        if node.op is None:
            require(node.name not in names, node.name, "two variables have this name")
            names.add(node.name)
            require(not node.inputs, node.name, "a variable has inputs")
            continue
        if not node.op.variadic:
            wanted = node.op.arguments(node.attrs)
            require(
                len(node.inputs) == len(wanted),
                node.name,
                f"expected inputs {wanted}, got {len(node.inputs)}",
            )
        if node.op.uses_mode:
            require(hasattr(node.attrs, "train"), node.name, "its mode is not set")
        if graph.specs is not None:
            _check_specs(graph, number, node, require)
    for source, index in graph.outputs:
        require(0 <= source < len(graph.nodes), "output", f"there is no node {source}")
        require(0 <= index < graph.nodes[source].count, "output", f"{source} lacks {index}")
    require(0 <= graph.forward <= len(graph.nodes), "forward", "more nodes than there are")
    return graph


def _check_specs(graph, number, node, require):
    ins = [graph.spec(entry) for entry in node.inputs]
    for position, spec in enumerate(ins):
        require(spec.known, node.name, f"input {position} is not inferred: {spec}")
    inferred = node.op.infer(node.attrs, [Spec(s.shape, s.dtype) for s in ins])
    require(
        inferred == graph.specs[number],
        node.name,
        f"inference says {inferred}, the graph {graph.specs[number]}",
    )
