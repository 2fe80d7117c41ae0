"""Users of nodes' outputs, and chains of nodes with a single user."""

__all__ = ["Users"]


class Users:
    """The users of each node's outputs.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph):
        self._nodes = graph.nodes
        self._users = [[] for _ in graph.nodes]
        for number, node in enumerate(graph.nodes):
            for position, (source, index) in enumerate(node.inputs):
                self._users[source].append((number, position, index))
        for position, (source, index) in enumerate(graph.outputs):
            self._users[source].append((-1, position, index))

    def __getitem__(self, number):
        """[(user's number, input position, output index)]; -1 for an output of the graph."""
        return self._users[number]

    def only(self, number):
        """The only reader of a node, reading its first output once; else None."""
        users = self._users[number]
        if len(users) != 1 or users[0][0] < 0 or users[0][2] != 0:
            return None
        return users[0][0]

    def chain(self, number, *accepts):
        """Follow a chain of nodes, each the only reader of its predecessor.

        Parameters
        ----------
        number : int
            Start of the chain, not part of the result.
        *accepts : callable
            ``accepts[i](node)`` returns whether a node may be the chain's i-th.

        Returns
        -------
        list of int, or None
            One node per element of `accepts`; None if there is no such chain.
        """
        numbers = []
        for accept in accepts:
            number = self.only(number)
            if number is None or not accept(self._nodes[number]):
                return None
            numbers.append(number)
        return numbers
