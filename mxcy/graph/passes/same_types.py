"""Removal of casts to an array's own dtype; multi-array casts are split into single ones."""

from mxcy._base.dtypes import name_of
from mxcy.graph.analysis.casts import CASTS
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_MULTICAST = find("amp_multicast")


def run(graph, target):
    """Bypass casts that do not change the dtype.

    In training graphs a cast is kept if it casts a variable, which may be written between the
    passes, or a value of the other pass, or if its result is an output.
    """
    if not any(_concerns(graph, number) for number in range(len(graph.nodes))):
        return graph
    rewrite = Rewrite(graph)
    outputs = {number for number, _ in graph.outputs}
    for number, node in rewrite.visit():
        if not _concerns(graph, number):
            rewrite.keep(number)
            continue
        stays = number in outputs and graph.forward < len(graph.nodes)
        for index, (entry, spec) in enumerate(zip(node.inputs, graph.specs[number], strict=True)):
            new = rewrite.entry(entry)
            if graph.spec(entry).dtype != spec.dtype or stays or not _may_go(graph, number, entry):
                name = node.name if node.op is not _MULTICAST else f"{node.name}_{index}"
                new = rewrite.add("Cast", {"dtype": name_of(spec.dtype)}, [new], name)
            rewrite.replace((number, index), new)
    return rewrite.finish()


def _concerns(graph, number):
    node, specs = graph.nodes[number], graph.specs[number]
    if node.op is _MULTICAST:
        return all(spec.dtype is not None for spec in specs)
    if node.op not in CASTS or specs[0].dtype is None:
        return False
    (entry,) = node.inputs
    return graph.spec(entry).dtype == specs[0].dtype and _may_go(graph, number, entry)


def _may_go(graph, number, entry):
    """Whether users of a cast may read its input."""
    if graph.forward >= len(graph.nodes):
        return True
    source = entry[0]
    same_pass = (number < graph.forward) == (source < graph.forward)
    return same_pass and graph.nodes[source].op is not None
