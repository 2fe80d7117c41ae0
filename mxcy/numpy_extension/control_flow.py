"""`mx.npx.foreach`, `while_loop` and `cond`: loops and branches over arrays of `mx.np`."""

import contextlib
import operator

from mxcy import autograd
from mxcy._base.errors import TracedValueError
from mxcy._base.listing import listing
from mxcy._library import front
from mxcy.ndarray._contrib import control
from mxcy.numpy._calls.operands import is_array
from mxcy.numpy_extension import recorded_control
from mxcy.numpy_extension.recorded_control import zero_steps

__all__ = ["cond", "foreach", "while_loop"]

__dir__ = listing(__name__)


def foreach(body, data, init_states, name="foreach"):
    """Run a function over the slices of arrays along their first axis, carrying states.

    Parameters
    ----------
    body : callable
        ``output, states = body(element, states)``; elements are slices of `data`.
    data : ndarray or list of ndarray
    init_states : ndarray or nested list of ndarray
        Initial states.
    name : str
        Name of the node's subgraph, in graphs.

    Returns
    -------
    outputs : ndarray or nested list of ndarray
        Outputs of all steps, stacked along a new first axis.
    states
        States returned by the last step.
    """
    if front.is_deferred():
        with contextlib.suppress(TracedValueError):  # else recorded step by step
            return recorded_control.foreach(body, data, init_states, name)
    return control.foreach(body, data, init_states)


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Run a function while a condition holds.

    Parameters
    ----------
    cond : callable
        ``cond(*loop_vars)`` returns a scalar.
    func : callable
        ``output, loop_vars = func(*loop_vars)``; the output may be None or a nested list.
    loop_vars : ndarray or list of ndarray
        Initial loop variables.
    max_iterations : int
        Maximum number of steps.
    name : str
        Name of the node's subgraphs, in graphs.

    Returns
    -------
    outputs : nested list of ndarray
        Outputs of all steps, stacked along a new first axis of size `max_iterations` and padded
        with zeros. If there is no step, `func` is called once to determine shapes.
    loop_vars : ndarray or list of ndarray
        Loop variables after the last step.

    Raises
    ------
    ValueError
        If `max_iterations` is missing, or the number of variables or outputs changes.
    """
    if front.is_deferred() and max_iterations is not None:
        return recorded_control.while_loop(cond, func, loop_vars, max_iterations, name)
    outputs, last = control.while_loop(cond, func, loop_vars, max_iterations)
    single = is_array(loop_vars)
    first, now = ([loop_vars], [last]) if single else (list(loop_vars), last)
    if isinstance(outputs, list) and not outputs and all(map(operator.is_, first, now)):
        with autograd.pause():  # no steps, or no outputs
            outputs = zero_steps(func(*first)[0], max_iterations)
    return outputs, last


def cond(pred, then_func, else_func, inputs, name="cond"):
    """Run one of two functions, depending on a predicate.

    Parameters
    ----------
    pred : callable
        ``pred(*inputs)`` returns a scalar.
    then_func, else_func : callable
        Called with the inputs; `then_func` if the scalar is nonzero.
    inputs : ndarray or list of ndarray
    name : str
        Name of the node, in graphs.

    Returns
    -------
    ndarray or nested list of ndarray

    Raises
    ------
    TypeError
        If `pred` or a branch is not callable.
    """
    operands = [inputs] if is_array(inputs) else list(inputs)
    for function, what in ((pred, "pred"), (then_func, "then_func"), (else_func, "else_func")):
        if not callable(function):
            raise TypeError(f"cond: {what} should be callable, got {type(function).__name__}")
    if front.is_deferred():
        return recorded_control.cond(pred, then_func, else_func, operands, name)
    return control.cond(pred(*operands), lambda: then_func(*operands), lambda: else_func(*operands))
