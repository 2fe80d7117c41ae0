"""The walk over the tape, from heads back to variables: who gets which gradient, and when."""

__all__ = ["tape_order", "walk"]


def tape_order(heads):
    """The nodes that the heads depend on, in topological order."""
    done, order = set(), []
    stack = [(head.node, False) for head in heads]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order.append(node)
            continue
        if id(node) in done:
            continue
        done.add(id(node))
        stack.append((node, True))
        stack.extend((parent, False) for parent in node.parents or () if parent is not None)
    return order


class _Sums:
    """Gradients that have arrived at each node's outputs, summed."""

    def __init__(self, in_place, rules):
        self._arrived = {}
        self._owned = set()  # (node, output) whose sum is an array of ours
        self._new = set()  # (node, output) whose gradient a rule made for it alone
        self._in_place, self._rules = in_place, rules

    def add(self, node, index, gradient, is_new=False):
        outputs = self._arrived.setdefault(id(node), {})
        before = outputs.get(index)
        if before is None:
            outputs[index] = gradient
            if is_new:
                self._new.add((id(node), index))
        elif self._in_place and (id(node), index) in self._owned and before.kind is not None:
            outputs[index] = self._rules.add_in_place(before, gradient)
        else:
            outputs[index] = before + gradient
            self._owned.add((id(node), index))

    def take(self, node):
        return self._arrived.pop(id(node), None)

    def is_ours(self, node):
        """Whether nobody else has the array with the gradient of a variable."""
        key = id(node), 0
        return self._in_place and (key in self._new or key in self._owned)


def _is_new(gradient, gradients, node, arrived):
    """Whether a rule created this gradient, rather than passing on an array it received."""
    received = (*arrived.values(), *(node.saved_inputs or ()), *(node.saved_outputs or ()))
    times = sum(other is gradient for other in gradients)
    return node.custom is None and times == 1 and not any(x is gradient for x in received)


def walk(order, seeds, wanted, create_graph, keep, rules):
    """Propagate gradients through a graph.

    Parameters
    ----------
    order : list of Node
        Result of `tape_order`.
    seeds : list of (Node, int, NDArray)
        Outputs of nodes and their gradients.
    wanted : dict or None
        Its keys, (id of a node, output), get the gradients that arrive there as values; with None
        the variables get theirs.
    create_graph, keep : bool
        Whether to record the walk, and whether to keep the graph.
    rules : object
        What `mxcy.ndarray.gradients` knows: `gradients` of a node, `deliver` to a variable,
        `add_in_place`, `refuse_released`.
    """
    if any(node.released for node in order):
        rules.refuse_released()
    sums = _Sums(not create_graph, rules)
    for node, index, gradient in seeds:
        sums.add(node, index, gradient)
    for node in reversed(order):
        arrived = sums.take(node)
        for key in wanted or ():
            if key[0] == id(node):
                wanted[key] = None if arrived is None else arrived.get(key[1])
        if not node.parents:
            if wanted is None:
                rules.deliver(node, None if arrived is None else arrived.get(0), sums.is_ours(node))
            continue
        if arrived is None:
            continue
        gradients = rules.gradients(node, arrived, create_graph, keep)
        positions = node.positions or (0,) * len(node.parents)
        for parent, position, gradient in zip(node.parents, positions, gradients, strict=True):
            if parent is not None and gradient is not None:
                is_new = not parent.parents and _is_new(gradient, gradients, node, arrived)
                sums.add(parent, position, gradient, is_new)
    if not (keep or create_graph):
        for node in order:
            if node.parents:
                node.release()
            elif node.grad_req == "null":  # no longer a variable, as in MXNet
                node.grad = None
