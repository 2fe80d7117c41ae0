"""The nodes of the autograd tape of the ctypes front; `walk.py` goes along them."""

__all__ = ["Node", "history", "take_over"]


def take_over(target, source):
    """Let `target` have the memory of `source`; arrays of this front keep theirs, so False."""
    return False


def history(array):
    """The node of an array; None if there is none, or backward has freed its graph."""
    if array.node is not None and array.node.released:
        array.node, array.node_index = None, 0
    return array.node


class Node:
    """A recorded operation or, without parents, a variable with a gradient."""

    __slots__ = (
        "call",
        "numbers",
        "context",
        "parents",
        "positions",
        "saved_inputs",
        "saved_outputs",
        "custom",
        "grad",
        "grad_req",
        "fresh",
        "released",
    )

    def __init__(self):
        for name in self.__slots__:
            setattr(self, name, None)
        self.fresh, self.released = 0, False

    def release(self):
        """Drop the graph behind the node and everything saved for the gradient."""
        self.saved_inputs = self.saved_outputs = self.custom = None
        self.parents, self.released = (), True
