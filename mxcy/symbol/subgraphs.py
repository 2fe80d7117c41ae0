"""What is common to control flow in symbols and under deferred computation: functions' graphs."""

from mxcy.attribute import AttrScope, current
from mxcy.graph.json import dumps
from mxcy.graph.node import SymbolNode, topological
from mxcy.ops.core.record import find

__all__ = ["MARK", "Subgraph", "computed", "subgraph_name"]

MARK = "__subgraph_name__"


def subgraph_name(name):
    """A new name for a subgraph, which tells in which other one it lies.

    Programs read in `AttrScope._subgraph_names` how often each has been used.
    """
    around = current()._attr.get(MARK)
    name = f"{around}${name}" if around else name
    number = AttrScope._subgraph_names[name]
    AttrScope._subgraph_names[name] = number + 1
    return f"{name}{number}"


def computed(entry, number):
    """A subgraph's output; the original cannot run subgraphs that return their inputs."""
    if entry[0].op is not None:
        return entry
    return SymbolNode(find("_copy"), f"identity{number}", {}, [entry]), 0


class Subgraph:
    """A function's graph.

    Attributes
    ----------
    text : str
        Its JSON.
    sources : list
        What its variables stand for, in their order: the number of one of the tracer's variables,
        or what lies outside.
    """

    def __init__(self, entries, sources):
        self.text = dumps(entries)
        self.sources = [sources[id(node)] for node in topological(entries) if node.op is None]

    def place(self, number):
        """The position of one of the tracer's variables."""
        assert number in self.sources, "the data and states have to be used in the function"
        return self.sources.index(number)
