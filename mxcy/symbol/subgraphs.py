"""Subgraphs of functions, shared by symbolic control flow and deferred computation."""

from mxcy.attribute import AttrScope, current
from mxcy.graph.json import dumps
from mxcy.graph.node import SymbolNode, topological
from mxcy.ops.core.record import find

__all__ = ["MARK", "Subgraph", "computed", "subgraph_name"]

MARK = "__subgraph_name__"


def subgraph_name(name):
    """Make a unique name for a subgraph, prefixed by the enclosing one's.

    `AttrScope._subgraph_names` counts the uses of each name for programs.
    """
    around = current()._attr.get(MARK)
    name = f"{around}${name}" if around else name
    number = AttrScope._subgraph_names[name]
    AttrScope._subgraph_names[name] = number + 1
    return f"{name}{number}"


def computed(entry, number):
    """A subgraph's output, copied if it is an input, as MXNet requires."""
    if entry[0].op is not None:
        return entry
    return SymbolNode(find("_copy"), f"identity{number}", {}, [entry]), 0


class Subgraph:
    """The graph of a function.

    Attributes
    ----------
    text : str
        JSON text of the graph.
    sources : list
        The sources of its variables, in order: the number of one of the tracer's variables, or an
        outer value.
    """

    def __init__(self, entries, sources):
        self.text = dumps(entries)
        self.sources = [sources[id(node)] for node in topological(entries) if node.op is None]

    def place(self, number):
        """The position of one of the tracer's variables."""
        assert number in self.sources, "the data and states have to be used in the function"
        return self.sources.index(number)
