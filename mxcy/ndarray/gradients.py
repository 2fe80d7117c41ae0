"""Gradients of arrays: the walk over the tape from the heads back to the variables.

The fronts record a tape node for every operation. Their `walk` visits the nodes and calls each
record's gradient rule. The rules consist of operators, so with `create_graph` the walk itself is
recorded and can be differentiated again.
"""

from types import SimpleNamespace

from mxcy._base import dtypes
from mxcy._library import front
from mxcy._library.api_calls import api_call
from mxcy.base import MXNetError
from mxcy.gpu.devices import is_device
from mxcy.ndarray.gradient_targets import Targets
from mxcy.ndarray.register import F

__all__ = ["as_list", "backward", "grad", "mark_variables"]


def as_list(values):
    """Wrap a single value in a list."""
    return list(values) if isinstance(values, (list, tuple)) else [values]


def mark_variables(variables, gradients, grad_reqs="write"):
    """Mark arrays as variables, whose gradients `backward` computes.

    Parameters
    ----------
    variables, gradients : NDArray or list of NDArray
        The variables and the arrays that receive their gradients.
    grad_reqs : str or list of str
        ``'write'``, ``'add'`` or ``'null'``.

    Raises
    ------
    ValueError
        If the lengths differ or a request is unknown.
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


def noted_copy(array, device):
    """Copy to another device under deferred computation, recording the copy.

    Parameters
    ----------
    array : NDArray
    device : Context
    """
    noted = F._copy(array)
    number = front.set_deferred(0)
    try:
        copied = noted.copyto(device)
    finally:
        front.set_deferred(number)
    copied.node, copied.node_index = noted.node, noted.node_index
    return copied


def _zeros(spec, context):
    make = F._npi_zeros if dtypes.is_complex(spec.dtype) else F._zeros
    return make(shape=spec.shape, dtype=dtypes.name_of(spec.dtype), ctx=str(context))


def _dense(gradient):
    return gradient if gradient.stype == "default" else gradient.tostype("default")


def _classic(array):
    """Convert an array to the class of `mx.nd`, which gradient rules use."""
    return array.as_nd_ndarray() if array is not None and array._is_numpy else array


def _ones(head):
    """The default head gradient, dense even for a sparse head."""
    if head.stype == "default":
        return F.ones_like(head)
    return F._ones(shape=head.shape, dtype=dtypes.name_of(head.dtype_code), ctx=str(head.context))


def _operator_gradients(node, arrived, keep_graph):
    """Compute the gradients of a recorded operator's inputs."""
    call = node.call
    op, attrs = call.op, call.attrs
    if node.numbers:
        attrs = op.schema.filled(attrs, node.numbers)
    gradients = [arrived.get(i) for i in range(len(call.outs))]
    for i in range(call.visible):
        if gradients[i] is None:
            gradients[i] = _zeros(call.outs[i], node.context)
    saved = list(node.saved_outputs or ())
    if keep_graph:  # higher derivatives depend on the saved outputs, which the node itself holds
        for i, output in enumerate(saved):
            if output is not None:
                saved[i] = output.detach()
                saved[i].node, saved[i].node_index = node, i
    return op.grad(
        attrs,
        F,
        gradients[0] if len(gradients) == 1 else gradients,
        [_classic(array) for array in node.saved_inputs or (None,) * len(node.parents)],
        saved,
        [parent is not None for parent in node.parents],
        call.ins,
    )


def _node_gradients(node, arrived, create_graph, keep):
    """Compute the gradients of any node's inputs from those of its outputs."""
    if node.custom is not None or not node.call.op.stypes:
        # Functions without sparse support get dense gradients.
        arrived = {i: _dense(gradient) for i, gradient in arrived.items()}
    if node.custom is not None:
        return [_classic(g) for g in node.custom._gradients(arrived, keep or create_graph)]
    return _operator_gradients(node, arrived, create_graph)


def _refuse_released():
    raise MXNetError(
        "the computational graph was freed by an earlier backward: use retain_graph=True there"
    )


#: marks the gradient of a target outside the graph
_OUTSIDE = object()


def _walk(heads, head_grads, retain_graph, create_graph, train_mode, targets=None):
    """Propagate gradients from heads to variables, or to `targets`, (node, output) pairs."""
    for head in heads:
        if head.node is None:
            raise MXNetError(
                "cannot differentiate an array that is not in a computational graph: compute it "
                "inside autograd.record() from arrays with attach_grad()"
            )
    order = front.tape_order(heads)
    wanted = None if targets is None else {(id(node), i): _OUTSIDE for node, i in targets}
    rules = _RULES
    if wanted is None and not create_graph and heads and is_device(heads[0].context):
        rules = _written_in_place()
    before = front.set_recording(create_graph), front.set_training(train_mode)
    casting = front.set_casting(False)  # mixed precision applies to users' calls only
    try:
        seeds = [
            (head.node, head.node_index, _classic(_head_gradient(head, gradient, create_graph)))
            for head, gradient in zip(heads, head_grads, strict=True)
        ]
        front.walk(order, seeds, wanted, create_graph, retain_graph, rules)
    finally:
        front.set_recording(before[0])
        front.set_training(before[1])
        front.set_casting(casting)
    return [wanted[id(node), index] for node, index in targets or ()]


def _head_gradient(head, gradient, create_graph):
    """The gradient of a head, by default ones, in the head's shape and dtype.

    Of a larger gradient the leading elements are used, as in MXNet.
    """
    if gradient is None:
        return _ones(head.detach() if create_graph else head)  # constants have no gradient
    if not isinstance(gradient, front.NDArrayBase):
        raise TypeError(
            f"backward: expected a head gradient of type NDArray, got {type(gradient).__name__}"
        )
    if gradient.shape != head.shape:
        if gradient.size < head.size:
            raise MXNetError(
                f"backward: expected a head gradient of shape {head.shape}, got {gradient.shape}"
            )
        gradient = gradient.reshape((-1,))[: head.size].reshape(head.shape)
    return gradient if gradient.dtype_code == head.dtype_code else gradient.astype(head.dtype)


def _deliver(variable, gradient, is_ours):
    """Store a variable's gradient (None for zero) according to its request.

    The memory of an array owned by the walk is reused, which saves a copy.
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


#: callbacks of the front's walk
_RULES = SimpleNamespace(
    namespace=F,
    gradients=_node_gradients,
    deliver=_deliver,
    add_in_place=lambda target, gradient: F.elemwise_add(target, gradient, out=target),
    refuse_released=_refuse_released,
)


def _written_in_place():
    """The callbacks of one walk on a device: plans write gradients to the variables' arrays.

    So their addresses are the same in each step, as required by CUDA graphs.
    """
    targets = Targets()

    def gradients(node, arrived, create_graph, keep):
        if getattr(node.custom, "takes_targets", False):
            node.custom.targets = targets.of(node.parents)
        return _node_gradients(node, arrived, create_graph, keep)

    def deliver(variable, gradient, is_ours):
        if targets.holds(variable, gradient):
            variable.fresh = True
        else:
            _deliver(variable, gradient, is_ours)

    return SimpleNamespace(**{**vars(_RULES), "gradients": gradients, "deliver": deliver})


@api_call("MXAutogradBackwardEx")
def backward(heads, head_grads=None, retain_graph=False, train_mode=True):
    """Compute the gradients of heads with respect to the marked variables.

    Parameters
    ----------
    heads : NDArray or list of NDArray
        Outputs of recorded operations.
    head_grads : NDArray or list of (NDArray or None), optional
        Gradients with respect to the heads, by default ones.
    retain_graph : bool
        Whether to keep the tape for another backward pass.
    train_mode : bool
        Whether the backward pass runs in training mode.

    Raises
    ------
    MXNetError
        If a head was not recorded, or its graph was freed.
    """
    heads = as_list(heads)
    head_grads = [None] * len(heads) if head_grads is None else as_list(head_grads)
    if len(heads) != len(head_grads):
        raise ValueError("backward: heads and head_grads differ in length")
    _walk(heads, head_grads, retain_graph, False, train_mode)


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
    """Compute the gradients of heads with respect to variables, as new arrays.

    Parameters
    ----------
    heads, variables : NDArray or list of NDArray
    head_grads : NDArray or list of (NDArray or None), optional
        Gradients with respect to the heads, by default ones.
    retain_graph : bool, optional
        Whether to keep the tape; by default the value of `create_graph`.
    create_graph : bool
        Whether to record the computation of the gradients, for higher derivatives.
    train_mode : bool
        Whether the backward pass runs in training mode.

    Returns
    -------
    list of NDArray
        One per variable, even if there is only one.
    """
    heads, listed = as_list(heads), as_list(variables)
    head_grads = [None] * len(heads) if head_grads is None else as_list(head_grads)
    if len(heads) != len(head_grads):
        raise ValueError("grad: heads and head_grads differ in length")
    for variable in listed:
        if variable.node is None:
            raise MXNetError("grad: every variable must have attach_grad() or be part of the graph")
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
        if variable._is_numpy:
            gradients[i] = gradients[i].as_np_ndarray()
    return gradients


def _recorded(gradient, variable):
    """Record a gradient that does not depend on the variable, so it can be differentiated."""
    before = front.set_recording(True)
    try:
        return F._identity_with_attr_like_rhs(gradient, variable)
    finally:
        front.set_recording(before)
