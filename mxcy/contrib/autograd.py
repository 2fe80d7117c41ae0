"""`mx.contrib.autograd`: MXNet's first interface of automatic differentiation.

Recording and training mode are one state here.
"""

import functools

from mxcy import autograd
from mxcy.base import MXNetError
from mxcy.ndarray import NDArray, zeros_like

__all__ = [
    "TrainingStateScope",
    "backward",
    "compute_gradient",
    "grad",
    "grad_and_loss",
    "mark_variables",
    "set_is_training",
    "test_section",
    "train_section",
]


def set_is_training(is_train):
    """Switch training mode and recording.

    Parameters
    ----------
    is_train : bool

    Returns
    -------
    bool
        The previous state.
    """
    autograd.set_training(is_train)
    return autograd.set_recording(is_train)


class TrainingStateScope:
    """Scope that switches training mode and recording on or off.

    Parameters
    ----------
    enter_state : bool
    """

    def __init__(self, enter_state):
        self._enter_state = enter_state
        self._before = None

    def __enter__(self):
        self._before = set_is_training(self._enter_state)

    def __exit__(self, *error):
        if self._before != self._enter_state:
            set_is_training(self._before)


def train_section():
    """Return a scope with recording in training mode."""
    return TrainingStateScope(True)


def test_section():
    """Return a scope in prediction mode without recording."""
    return TrainingStateScope(False)


def mark_variables(variables, gradients, grad_reqs="write"):
    """Mark arrays as variables; see `mx.autograd.mark_variables`."""
    autograd.mark_variables(variables, gradients, grad_reqs)


def backward(outputs, out_grads=None, retain_graph=False):
    """Compute the gradients of all variables.

    Parameters
    ----------
    outputs : list of NDArray
    out_grads : list of (NDArray or None), optional
        Their gradients; ones by default.
    retain_graph : bool
        Keep the graph for another backward pass.

    Raises
    ------
    MXNetError
        If `outputs` is not a list, or `out_grads` has another length.
    """
    if not isinstance(outputs, list | tuple):
        raise MXNetError("backward: outputs must be a list or tuple of NDArrays")
    if out_grads is not None and len(out_grads) != len(outputs):
        raise MXNetError(
            f"backward: there are {len(outputs)} outputs, but {len(out_grads)} out_grads"
        )
    autograd.backward(list(outputs), out_grads, retain_graph)


def compute_gradient(outputs):
    """Run `backward` with ones as output gradients."""
    backward(outputs)


def grad_and_loss(func, argnum=None):
    """Return a function that also computes the gradients of its arguments.

    Parameters
    ----------
    func : callable
        Returns an array, or a list of arrays.
    argnum : int or list of int, optional
        Indices of the arguments to differentiate; all by default.

    Returns
    -------
    callable
        Returns the list of gradients and the result of `func`; raises MXNetError if such an
        argument is not an NDArray.
    """

    @functools.wraps(func)
    def computed(*args):
        chosen = range(len(args)) if argnum is None else argnum
        chosen = [chosen] if isinstance(chosen, int) else chosen
        variables = [args[number] for number in chosen]
        for number, variable in zip(chosen, variables, strict=True):
            if not isinstance(variable, NDArray):
                raise MXNetError(
                    f"grad_and_loss: argument {number} must be an NDArray, got {type(variable)}"
                )
        grads = [zeros_like(variable) for variable in variables]
        mark_variables(variables, grads)
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, NDArray) else outputs)
        return grads, outputs

    return computed


def grad(func, argnum=None):
    """Return a function that computes the gradients of another function's arguments.

    Parameters
    ----------
    func, argnum
        See `grad_and_loss`.

    Returns
    -------
    callable
        Returns the list of gradients.
    """
    computed = grad_and_loss(func, argnum)

    @functools.wraps(computed)
    def gradients(*args):
        return computed(*args)[0]

    return gradients
