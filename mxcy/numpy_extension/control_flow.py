"""`mx.npx.foreach`, `while_loop` and `cond`: loops and branches over arrays of `mx.np`."""

import contextlib
import operator

from mxcy import autograd
from mxcy._base.errors import TracedValueError
from mxcy._base.listing import listing
from mxcy._library import front
from mxcy.ndarray._contrib import control
from mxcy.numpy._calls.operands import is_array
from mxcy.numpy_extension import noted_control
from mxcy.numpy_extension.noted_control import zero_steps

__all__ = ["cond", "foreach", "while_loop"]

__dir__ = listing(__name__)


def foreach(body, data, init_states, name="foreach"):
    """Call a function for each element of arrays along their first axis.

    Parameters
    ----------
    body : callable
        ``output, states = body(element, states)``; elements are slices of `data`.
    data : ndarray or list of ndarray
    init_states : ndarray or nested list of ndarray
        The states of the first call.
    name : str
        Of the node's subgraph, in graphs.

    Returns
    -------
    outputs : ndarray or nested list of ndarray
        The outputs of all calls, stacked along a new first axis.
    states
        What the last call returned.
    """
    if front.is_deferred():
        with contextlib.suppress(TracedValueError):  # what is no node is noted call by call
            return noted_control.foreach(body, data, init_states, name)
    return control.foreach(body, data, init_states)


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Call a function as long as a condition holds.

    Parameters
    ----------
    cond : callable
        ``cond(*loop_vars)`` gives one number.
    func : callable
        ``output, loop_vars = func(*loop_vars)``; the output may be None or a nested list.
    loop_vars : ndarray or list of ndarray
        The variables of the first call.
    max_iterations : int
        The largest number of calls.
    name : str
        Of the node's subgraphs, in graphs.

    Returns
    -------
    outputs : nested list of ndarray
        The outputs of all calls, joined along a new first axis of extent `max_iterations`; zeros
        where no call has filled it. When there was no call, `func` is called once for their shapes.
    loop_vars : ndarray or list of ndarray
        What the last call returned.

    Raises
    ------
    ValueError
        When `max_iterations` is missing, or the numbers of variables or outputs change.
    """
    if front.is_deferred() and max_iterations is not None:
        return noted_control.while_loop(cond, func, loop_vars, max_iterations, name)
    outputs, last = control.while_loop(cond, func, loop_vars, max_iterations)
    single = is_array(loop_vars)
    first, now = ([loop_vars], [last]) if single else (list(loop_vars), last)
    if isinstance(outputs, list) and not outputs and all(map(operator.is_, first, now)):
        with autograd.pause():  # there was no step, or it had no outputs
            outputs = zero_steps(func(*first)[0], max_iterations)
    return outputs, last


def cond(pred, then_func, else_func, inputs, name="cond"):
    """What one of two functions returns.

    Parameters
    ----------
    pred : callable
        ``pred(*inputs)`` gives one number.
    then_func, else_func : callable
        Called with the inputs: the first where the number is not zero.
    inputs : ndarray or list of ndarray
    name : str
        Of the node, in graphs.

    Returns
    -------
    ndarray or nested list of ndarray

    Raises
    ------
    TypeError
        When `pred` or a branch is no function.
    """
    operands = [inputs] if is_array(inputs) else list(inputs)
    for function, what in ((pred, "pred"), (then_func, "then_func"), (else_func, "else_func")):
        if not callable(function):
            raise TypeError(f"cond: {what} should be callable, got {type(function).__name__}")
    if front.is_deferred():
        return noted_control.cond(pred, then_func, else_func, operands, name)
    return control.cond(pred(*operands), lambda: then_func(*operands), lambda: else_func(*operands))
