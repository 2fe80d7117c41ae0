"""Gradients of arrays: the walk over the tape, from the heads back to the variables.

The fronts put a node on the tape for every recorded operation; `_walk` visits the nodes and asks
each record's gradient rule. The rules are made of operators, so with `create_graph` the walk itself
is recorded and can be differentiated again.
"""

from mxcy._base import dtypes
from mxcy._library import front
from mxcy._library.api_calls import api_call
from mxcy.base import MXNetError
from mxcy.ndarray.register import F

__all__ = ["as_list", "backward", "grad", "mark_variables", "tape_order"]


def as_list(values):
    """A list of one or several values."""
    return list(values) if isinstance(values, (list, tuple)) else [values]


def mark_variables(variables, gradients, grad_reqs="write"):
    """Make arrays variables whose gradients `backward` computes.

    Parameters
    ----------
    variables, gradients : NDArray or list of NDArray
        The variables and the arrays that receive their gradients.
    grad_reqs : str or list of str
        ``'write'``, ``'add'`` or ``'null'``.

    Raises
    ------
    ValueError
        When the lengths differ or a request is unknown.
    """
    variables, gradients = as_list(variables), as_list(gradients)
    if isinstance(grad_reqs, str):
        grad_reqs = [grad_reqs] * len(variables)
    if not len(variables) == len(gradients) == len(grad_reqs):
        raise ValueError("mark_variables: variables, gradients and grad_reqs differ in length")
    for variable, gradient, req in zip(variables, gradients, grad_reqs, strict=True):
        if req not in ("write", "add", "null"):
            raise ValueError(f"mark_variables: grad_req must be write, add or null, got {req!r}")
        node = front.Node()
        node.grad, node.grad_req = gradient, req
        variable.node, variable.node_index = node, 0


def tape_order(heads):
    """The nodes that the heads depend on, each after those it depends on."""
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

    def __init__(self, in_place):
        self._arrived = {}
        self._owned = set()  # (node, output) whose sum is an array of ours
        self._new = set()  # (node, output) whose gradient a rule made for it alone
        self._in_place = in_place

    def add(self, node, index, gradient, is_new=False):
        outputs = self._arrived.setdefault(id(node), {})
        before = outputs.get(index)
        if before is None:
            outputs[index] = gradient
            if is_new:
                self._new.add((id(node), index))
        elif self._in_place and (id(node), index) in self._owned and before.stype == "default":
            F.elemwise_add(before, gradient, out=before)
        else:
            outputs[index] = before + gradient
            self._owned.add((id(node), index))

    def take(self, node):
        return self._arrived.pop(id(node), None)

    def is_ours(self, node):
        """Whether nobody else has the array with the gradient of a variable."""
        key = id(node), 0
        return self._in_place and (key in self._new or key in self._owned)

    def peek(self, node, index):
        return self._arrived.get(id(node), {}).get(index)


def _zeros(spec, context):
    return F._zeros(shape=spec.shape, dtype=dtypes.name_of(spec.dtype), ctx=str(context))


def _dense(gradient):
    return gradient if gradient.stype == "default" else gradient.tostype("default")


def _ones(head):
    """The gradient of a head by default, dense also for a sparse head."""
    if head.stype == "default":
        return F.ones_like(head)
    return F._ones(shape=head.shape, dtype=dtypes.name_of(head.dtype_code), ctx=str(head.context))


def _operator_gradients(node, arrived, keep_graph):
    """The gradients of the inputs of one recorded operator."""
    call = node.call
    op, attrs = call.op, call.attrs
    if node.numbers:
        attrs = op.schema.filled(attrs, node.numbers)
    gradients = [arrived.get(i) for i in range(len(call.outs))]
    for i in range(call.visible):
        if gradients[i] is None:
            gradients[i] = _zeros(call.outs[i], node.context)
    saved = list(node.saved_outputs or ())
    if keep_graph:  # a second derivative passes through the saved outputs
        for i, output in enumerate(saved):
            if output is not None:
                output.node, output.node_index = node, i
    try:
        return op.grad(
            attrs,
            F,
            gradients[0] if len(gradients) == 1 else gradients,
            node.saved_inputs or (None,) * len(node.parents),
            saved,
            [parent is not None for parent in node.parents],
            call.ins,
        )
    finally:
        if keep_graph:
            for output in saved:
                if output is not None:
                    output.node = None


def _is_new(gradient, gradients, node, arrived):
    """Whether a rule made this one of its gradients, rather than hand on an array that it got."""
    received = (*arrived.values(), *(node.saved_inputs or ()), *(node.saved_outputs or ()))
    times = sum(other is gradient for other in gradients)
    return node.custom is None and times == 1 and not any(x is gradient for x in received)


#: the gradient of a target that is no part of the graph
_OUTSIDE = object()


def _walk(heads, head_grads, retain_graph, create_graph, train_mode, targets=None):
    """Send gradients from the heads to the variables, or to `targets`, pairs of (node, output)."""
    for head in heads:
        if head.node is None:
            raise MXNetError(
                "cannot differentiate an array that is not in a computational graph: compute it "
                "inside autograd.record() from arrays with attach_grad()"
            )
    order = tape_order(heads)
    if any(node.released for node in order):
        raise MXNetError(
            "the computational graph was freed by an earlier backward: use retain_graph=True there"
        )
    sums = _Sums(in_place=not create_graph)
    wanted = {(id(node), index): _OUTSIDE for node, index in targets or ()}
    before = front.set_recording(create_graph), front.set_training(train_mode)
    try:
        for head, gradient in zip(heads, head_grads, strict=True):
            sums.add(head.node, head.node_index, _head_gradient(head, gradient))
        for node in reversed(order):
            for key in wanted:
                if key[0] == id(node):
                    wanted[key] = sums.peek(node, key[1])
            arrived = sums.take(node)
            if not node.parents:
                if targets is None:
                    _deliver(node, None if arrived is None else arrived[0], sums.is_ours(node))
                continue
            if arrived is None:
                continue
            if node.custom is not None or not node.call.op.stypes:
                # What knows nothing of sparse arrays gets none.
                arrived = {i: _dense(gradient) for i, gradient in arrived.items()}
            if node.custom is not None:
                gradients = node.custom._gradients(arrived, retain_graph or create_graph)
            else:
                gradients = _operator_gradients(node, arrived, create_graph)
            positions = node.positions or (0,) * len(node.parents)
            for parent, position, gradient in zip(node.parents, positions, gradients, strict=True):
                if parent is not None and gradient is not None:
                    ends = not parent.parents
                    is_new = ends and _is_new(gradient, gradients, node, arrived)
                    sums.add(parent, position, gradient, is_new)
    finally:
        front.set_recording(before[0])
        front.set_training(before[1])
    if not (retain_graph or create_graph):
        for node in order:
            if node.parents:
                node.release()
    return [wanted[id(node), index] for node, index in targets or ()]


def _head_gradient(head, gradient):
    """The gradient of a head: ones, or what was given, in the head's shape and dtype.

    Of a larger one the leading elements are taken, as MXNet does.
    """
    if gradient is None:
        return _ones(head)
    if gradient.shape != head.shape:
        if gradient.size < head.size:
            raise MXNetError(
                f"backward: expected a head gradient of shape {head.shape}, got {gradient.shape}"
            )
        gradient = gradient.reshape((-1,))[: head.size].reshape(head.shape)
    return gradient if gradient.dtype_code == head.dtype_code else gradient.astype(head.dtype)


def _deliver(variable, gradient, is_ours):
    """Store a variable's gradient, None for zero, as its request says.

    An array that is ours lends its memory, which saves a copy.
    """
    target = variable.grad
    if gradient is not None and target is not None and target.stype != gradient.stype:
        if variable.grad_req == "write":
            _dense(gradient).copyto(target)
        elif variable.grad_req == "add":
            (target + gradient).copyto(target)
    elif variable.grad_req == "write":
        if gradient is None:
            F.zeros_like(variable.grad, out=variable.grad)
        elif not (is_ours and front.take_over(variable.grad, gradient)):
            F._copy(gradient, out=variable.grad)
    elif variable.grad_req == "add" and gradient is not None:
        F.elemwise_add(variable.grad, gradient, out=variable.grad)
    variable.fresh = True


@api_call("MXAutogradBackwardEx")
def backward(heads, head_grads=None, retain_graph=False, train_mode=True):
    """Compute the gradients of heads with respect to the marked variables.

    Parameters
    ----------
    heads : NDArray or list of NDArray
        Outputs of recorded operations.
    head_grads : NDArray or list of (NDArray or None), optional
        Gradients with respect to the heads; ones where not given.
    retain_graph : bool
        Keep the tape, so that backward can run again.
    train_mode : bool
        Whether the backward pass runs in training mode.

    Raises
    ------
    MXNetError
        When a head was not recorded, or its graph was freed.
    """
    heads = as_list(heads)
    head_grads = [None] * len(heads) if head_grads is None else as_list(head_grads)
    if len(heads) != len(head_grads):
        raise ValueError("backward: heads and head_grads differ in length")
    _walk(heads, head_grads, retain_graph, False, train_mode)


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
    """The gradients of heads with respect to variables, as new arrays.

    Parameters
    ----------
    heads, variables : NDArray or list of NDArray
    head_grads : NDArray or list of (NDArray or None), optional
        Ones where not given.
    retain_graph : bool, optional
        Keep the tape; by default the value of `create_graph`.
    create_graph : bool
        Record the computation of the gradients, for higher derivatives.
    train_mode : bool
        Whether the backward pass runs in training mode.

    Returns
    -------
    list of NDArray
        One for each variable, also when there is only one.
    """
    heads, listed = as_list(heads), as_list(variables)
    head_grads = [None] * len(heads) if head_grads is None else as_list(head_grads)
    if len(heads) != len(head_grads):
        raise ValueError("grad: heads and head_grads differ in length")
    for variable in listed:
        if variable.node is None:
            raise MXNetError("grad: every variable needs attach_grad() or a place in the graph")
    targets = [(variable.node, variable.node_index) for variable in listed]
    retain = create_graph if retain_graph is None else retain_graph
    gradients = _walk(heads, head_grads, retain, create_graph, train_mode, targets)
    for i, (variable, gradient) in enumerate(zip(listed, gradients, strict=True)):
        if gradient is None:
            gradients[i] = F.zeros_like(variable)
        elif gradient is _OUTSIDE:
            raise MXNetError(
                f"grad: a variable of shape {variable.shape} is not part of the heads' graph"
            )
        elif create_graph and gradient.node is None:
            gradients[i] = _recorded(gradient, variable)
    return gradients


def _recorded(gradient, variable):
    """A gradient that does not depend on the variable, as an array that can be differentiated."""
    before = front.set_recording(True)
    try:
        return F._identity_with_attr_like_rhs(gradient, variable)
    finally:
        front.set_recording(before)
