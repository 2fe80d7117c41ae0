"""Memory sharing between entries, and lifetimes of storages.

A storage is the memory of one or more entries. Nodes are visited in order, counting the remaining
reads of each entry. Parts of a join in place (`mxcy.graph.planning.joins`) share its memory.
"""

from mxcy.graph.planning.joins import Joins

__all__ = ["Sharing"]

_ALIGNMENT = 64


class Sharing:
    """Assigns entries to storages and records the storages' lifetimes.

    Attributes
    ----------
    storages : dict of (int, int) to int
        The storage of each entry in the arena; -1 for empty tensors.
    within : dict of (int, int) to int
        Byte offset in its storage of each entry that does not begin there.
    sizes : list of int
        Size of each storage in bytes.
    events : list of (int, bool, int)
        (storage, whether it begins, number of the node), in order.
    idle : set of int
        Numbers of the nodes that have nothing to do because their inputs are computed in place.
    """

    def __init__(self, graph, calls, external, enable):
        self._graph, self._external, self._enable = graph, external, enable
        self._left = _count_reads(graph)
        self._mutated = {entry for node in graph.nodes for entry in node.mutates()}
        self._users = []  # storage -> remaining reads of its entries
        self.storages, self.sizes, self.events = {}, [], []
        self.aliases, self.inplace, self.within = {}, [], {}
        joins = Joins(graph, external) if enable else None
        self._parts = joins.parts if joins else {}
        self._wholes = {}  # join -> its storage
        self.idle = joins.idle if joins else set()
        for number, node in enumerate(graph.nodes):
            if node.op is not None:
                self._visit(number, node, calls[number])

    def _visit(self, number, node, call):
        outputs = [
            (number, index)
            for index in range(len(self._graph.specs[number]))
            if (number, index) not in self._external
        ]
        if number in self.idle:
            self._put(outputs.pop(0), node.inputs[0], 0)
        for entry in [entry for entry in outputs if entry in self._parts]:
            self._place_part(entry, number)
            outputs.remove(entry)
        if outputs and outputs[0][1] == 0 and self._enable and self._share(outputs[0], node, call):
            del outputs[0]
        sized = [(self._graph.spec(entry).nbytes, entry) for entry in outputs]
        if len(sized) > 1:
            sized.sort(key=lambda pair: -pair[0])
        for size, entry in sized:
            self.storages[entry] = self._begin(number, size, self._left.get(entry, 0))
        done = [self.storages[entry] for entry in outputs if not self._left.get(entry)]
        ignored = node.op.ignored
        for position, entry in enumerate(node.inputs):
            if position not in ignored:
                storage = self.storages.get(entry, -1)
                if storage >= 0:
                    self._users[storage] -= 1
                    if not self._users[storage]:
                        done.append(storage)
        for storage in done:
            if storage >= 0:
                self.events.append((storage, False, number))

    def _begin(self, number, size, reads):
        """Begin a new storage; return its number, or -1 if there is nothing to store."""
        if not size:
            return -1
        self.sizes.append(_rounded(size))
        self._users.append(reads)
        self.events.append((len(self.sizes) - 1, True, number))
        return len(self.sizes) - 1

    def _place_part(self, entry, number):
        """Place an entry in the join that it is a part of; the first one begins its storage."""
        whole, offset = self._parts[entry]
        if whole not in self._wholes:
            self._wholes[whole] = self._begin(number, self._graph.spec(whole).nbytes, 0)
        self.storages[entry] = storage = self._wholes[whole]
        self._users[storage] += self._left.get(entry, 0)
        if offset:
            self.within[entry] = offset

    def _share(self, output, node, call):
        """Reuse an input's memory for a node's first output if possible."""
        if not node.inputs:
            return False
        if node.op.identity and self._join(output, node):
            return True
        if call.kernel is None and (len(call.outs) > 1 or node.mutates()):
            return False  # a reference's other results may be views of the overwritten input
        spec, ignored = self._graph.spec(output), node.op.ignored
        mutated = node.op.mutated(len(node.inputs))
        positions = range(len(node.inputs)) if call.inplace else call.overwrites
        for position in positions:
            entry = node.inputs[position]
            storage = self.storages.get(entry, -1)
            if storage < 0 or position in ignored or position in mutated:
                continue
            reads = sum(other == entry for other in node.inputs) if call.inplace else 1
            source = self._graph.spec(entry)
            if (
                self._users[storage] == reads
                and source.size == spec.size
                and source.nbytes == spec.nbytes
            ):
                self._put(output, entry, position)
                return True
        return False

    def _join(self, output, node):
        """Share storage between input and output of an identity: neither is written."""
        entry = node.inputs[0]
        if output in self._mutated or entry in self._mutated:
            return False
        variable = self.aliases.get(entry, entry)
        if self._graph.nodes[variable[0]].op is None:
            if variable in self._mutated:
                return False
            self.aliases[output] = variable
            self.inplace.append((output[0], 0, 0))
            return True
        if self.storages.get(entry, -1) < 0:
            return False
        self._put(output, entry, 0)
        return True

    def _put(self, output, entry, position):
        """Give an output the memory that begins where an input's does."""
        self.storages[output] = storage = self.storages[entry]
        if entry in self.within:
            self.within[output] = self.within[entry]
        self._users[storage] += self._left.get(output, 0)
        self.inplace.append((output[0], position, output[1]))


def _count_reads(graph):
    """The number of reads of each entry, plus one for outputs of the graph."""
    counts = {}
    for node in graph.nodes:
        if node.op is not None:
            ignored = node.op.ignored
            for position, entry in enumerate(node.inputs):
                if position not in ignored:
                    counts[entry] = counts.get(entry, 0) + 1
    for entry in graph.outputs:
        counts[entry] = counts.get(entry, 0) + 1
    return counts


def _rounded(size):
    return -(-size // _ALIGNMENT) * _ALIGNMENT
