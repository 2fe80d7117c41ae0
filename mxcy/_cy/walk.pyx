"""The walk over the tape from heads back to variables, accumulating gradients.

Records define the nodes' gradients in Python; `rules` provides these and unusual cases.
"""
cimport cython
from cpython.object cimport PyObject

from mxcy._cy.ndarray cimport NDArrayBase, make_view
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE
from mxcy._cy.tape cimport Node
from mxcy._cy.variants cimport OpHandle


@cython.final
@cython.freelist(64)
cdef class Arrival:
    """The gradients that have arrived at a node's outputs, summed."""

    cdef object first  # gradient of output 0
    cdef bint owned  # whether the first is owned by the walk: a sum
    cdef bint made  # whether a rule created the first for this node only
    cdef dict others  # output -> gradient
    cdef set sums  # the outputs among these whose gradient is owned by the walk

    cdef dict by_output(self):
        cdef dict gradients = {} if self.others is None else dict(self.others)
        if self.first is not None:
            gradients[0] = self.first
        return gradients


cdef object summed(object before, object gradient, bint in_place, bint owned, object rules):
    """Add two gradients, in the memory of the first one if owned."""
    if in_place and owned and (<NDArrayBase?>before).layout is not SPARSE:
        return rules.add_in_place(before, gradient)
    return before + gradient


cdef int arrive(dict arrivals, Node node, int index, object gradient, bint is_made, bint in_place,
                object rules) except -1:
    """Add a gradient of a node's output."""
    cdef Arrival arrival
    known = arrivals.get(node)
    if known is None:
        arrival = Arrival.__new__(Arrival)
        arrivals[node] = arrival
    else:
        arrival = <Arrival>known
    if index == 0:
        if arrival.first is None:
            arrival.first, arrival.made = gradient, is_made
            return 0
        arrival.first = summed(arrival.first, gradient, in_place, arrival.owned, rules)
        arrival.owned = True
        return 0
    if arrival.others is None:
        arrival.others, arrival.sums = {}, set()
    before = arrival.others.get(index)
    if before is not None:
        gradient = summed(before, gradient, in_place, index in arrival.sums, rules)
        arrival.sums.add(index)
    arrival.others[index] = gradient
    return 0


cdef bint is_made_by(object gradient, object gradients, Node node,
                     Arrival arrival) except -1:
    """Whether a rule created this gradient, rather than passing on an array it received."""
    cdef int times = 0
    if gradient is arrival.first:
        return False
    if node.custom is not None and not getattr(node.custom, "makes_gradients", False):
        return False
    for other in gradients:
        times += other is gradient
    if times != 1:
        return False
    for kept in (node.saved_inputs, node.kept_outputs):
        if kept is not None:
            for array in kept:
                if array is gradient:
                    return False
    return arrival.others is None or id(gradient) not in map(id, arrival.others.values())


cdef object classic(object array):
    """Convert a saved array to the class of `mx.nd`, which gradient rules use."""
    cdef NDArrayBase kept, view
    if array is None or services.numpy_class is None or not isinstance(array, services.numpy_class):
        return array
    kept = <NDArrayBase>array
    view = make_view(kept, kept.layout, 0, services.array_class)
    view.node, view.node_index = kept.node, kept.node_index
    return view


cdef object simple_gradients(Node node, object gradient, object rules):
    """Compute the input gradients of a recorded operator with one output."""
    cdef OpHandle handle = <OpHandle>node.handle
    cdef list asked = [None, rules.namespace, gradient]
    cdef int i, n = len(node.parents)
    call = node.call
    attrs = call.attrs
    if node.nvalues:
        attrs = handle.schema.filled(attrs, node.numbers)
    asked[0] = attrs
    for kind, place in handle.op.grad_needs:
        if kind == "in":
            i = place
            asked.append(
                classic(node.saved_inputs[i]) if i < n and node.saved_inputs is not None else None
            )
        elif kind == "out":
            asked.append(node.saved_outputs[0])
        elif kind == "ins":
            asked.append(
                None if node.saved_inputs is None else [classic(a) for a in node.saved_inputs]
            )
        elif kind == "outs":
            asked.append(node.saved_outputs)
        elif kind == "needs":
            asked.append([parent is not None for parent in node.parents])
        else:
            asked.append(call.ins)
    gradients = handle.op.grad_rule(*asked)
    return gradients if isinstance(gradients, (tuple, list)) else (gradients,)


cdef int check(list order, object rules) except -1:
    """Check that the graph has not been freed."""
    cdef Node node
    for node in order:
        if node.released:
            rules.refuse_released()
    return 0


def tape_order(heads):
    """The nodes that the heads depend on, in topological order."""
    cdef list order = [], stack = [head.node for head in heads]
    cdef set done = set()
    cdef Node node
    while stack:
        entry = stack.pop()
        if entry is None:  # all dependencies of the node below are done
            order.append(stack.pop())
            continue
        if entry in done:
            continue
        done.add(entry)
        node = <Node?>entry
        stack.append(node)
        stack.append(None)
        if node.parents is not None:
            for parent in node.parents:
                if parent is not None:
                    stack.append(parent)
    return order


def walk(list order, list seeds, dict wanted, bint create_graph, bint keep, rules):
    """Propagate gradients through a graph.

    Parameters
    ----------
    order : list of Node
        Result of `tape_order`.
    seeds : list of (Node, int, NDArray)
        Outputs of nodes and their gradients.
    wanted : dict or None
        Maps (id of a node, output) to the gradients that arrive there, to be filled in; None sets
        the variables' gradients.
    create_graph, keep : bool
        Whether to record the walk, and whether to keep the graph.
    rules : object
        The callbacks of `mxcy.ndarray.gradients`: `namespace` of operators, `gradients` of any
        node, `deliver` to a variable, `dense`, `add_in_place`, `refuse_released`.
    """
    cdef dict arrivals = {}
    cdef Arrival arrival
    cdef Node node, parent
    cdef Py_ssize_t at, i, n
    cdef bint in_place = not create_graph, is_made
    cdef object gradient, gradients
    check(order, rules)
    for head, index, gradient in seeds:
        arrive(arrivals, <Node?>head, index, gradient, False, in_place, rules)
    for at in range(len(order) - 1, -1, -1):
        node = <Node?>order[at]
        arrival = arrivals.pop(node, None)
        if wanted is not None:
            for key in wanted:
                if key[0] == <size_t><PyObject *>node:
                    wanted[key] = None if arrival is None else arrival.by_output().get(key[1])
        if not node.parents:
            if wanted is None:
                gradient = None if arrival is None else arrival.first
                is_made = arrival is not None and in_place and (arrival.made or arrival.owned)
                rules.deliver(node, gradient, is_made)
            continue
        if arrival is None:
            continue
        if (node.handle is not None and in_place and arrival.others is None
                and arrival.first is not None
                and (<NDArrayBase?>arrival.first).layout is not SPARSE):
            gradients = simple_gradients(node, arrival.first, rules)
        else:
            gradients = rules.gradients(node, arrival.by_output(), create_graph, keep)
            if len(gradients) != len(node.parents):
                raise ValueError(
                    f"expected {len(node.parents)} gradients of inputs, got {len(gradients)}"
                )
        n = min(len(node.parents), len(gradients))
        for i in range(n):
            gradient = gradients[i]
            if gradient is None or node.parents[i] is None:
                continue
            parent = <Node?>node.parents[i]
            is_made = not parent.parents and is_made_by(gradient, gradients, node, arrival)
            arrive(
                arrivals, parent, 0 if node.positions is None else node.positions[i], gradient,
                is_made, in_place, rules
            )
    if not keep and not create_graph:
        for node in order:
            if node.parents:
                node.release()
            elif node.grad_req == "null":  # no longer a variable, as in MXNet
                node.grad = None
