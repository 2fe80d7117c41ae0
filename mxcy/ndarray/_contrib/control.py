"""Control flow on arrays: plain Python loops whose operators are recorded on the tape."""

from mxcy._base.errors import NestingError
from mxcy._library import front
from mxcy.ndarray._functions import creation
from mxcy.ndarray.register import F

__all__ = ["checked_step", "cond", "flatten", "foreach", "regroup", "while_loop"]


def flatten(nested, what):
    """Flatten nested lists of arrays; also return the nesting, for `regroup`."""
    if isinstance(nested, front.NDArrayBase):
        return [nested], None
    if not isinstance(nested, (list, tuple)):
        raise NestingError(
            f"{what} should be an NDArray or a nested list of NDArrays, got {type(nested).__name__}"
        )
    parts = [flatten(part, what) for part in nested]
    return [array for arrays, _ in parts for array in arrays], [shape for _, shape in parts]


def regroup(arrays, nesting):
    """Nest an iterator's arrays as described by `flatten`."""
    if nesting is None:
        return next(arrays)
    return [regroup(arrays, part) for part in nesting]


def _python(value, kind, what):
    try:
        return kind(value.asnumpy().item() if isinstance(value, front.NDArrayBase) else value)
    except (TypeError, ValueError):
        raise ValueError(f"Cannot convert {what} to python {kind.__name__}") from None


def checked_step(result):
    """Check that the body of `foreach` returned an output and states."""
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise ValueError("foreach: body: expected it to return (output, states)")
    return result


def foreach(body, data, init_states):
    """Call a function for each slice of arrays along their first axis.

    Parameters
    ----------
    body : callable
        ``output, states = body(element, states)``; elements are slices of `data`.
    data : NDArray or list of NDArray
    init_states : NDArray or nested list of NDArray
        The initial states.

    Returns
    -------
    outputs : NDArray or nested list of NDArray
        The outputs of all calls, stacked along a new first axis.
    states
        The final states.
    """
    flatten(data, "data")
    flatten(init_states, "init_states")
    single = isinstance(data, front.NDArrayBase)
    states, steps, nesting = init_states, [], []
    for i in range(len(data if single else data[0])):
        result = body(data[i] if single else [array[i] for array in data], states)
        output, states = checked_step(result)
        arrays, nesting = flatten(output, "the output of body")
        steps.append(arrays)
    stacked = (F.stack(*arrays) for arrays in zip(*steps, strict=True))
    return regroup(stacked, nesting), states


def while_loop(cond, func, loop_vars, max_iterations=None):
    """Call a function as long as a condition holds.

    Parameters
    ----------
    cond : callable
        ``cond(*loop_vars)`` returns a scalar.
    func : callable
        ``output, loop_vars = func(*loop_vars)``; the output may be None or a nested list.
    loop_vars : NDArray or list of NDArray
        The initial variables.
    max_iterations : int
        The maximum number of iterations.

    Returns
    -------
    outputs : nested list of NDArray
        The outputs of all calls, stacked along a new first axis of size `max_iterations` and
        padded with zeros. An empty list if there was no call.
    loop_vars : NDArray or list of NDArray
        The final variables.

    Raises
    ------
    ValueError
        When `max_iterations` is missing, or the numbers of variables or outputs change.
    """
    if max_iterations is None:
        raise ValueError("max_iterations should be specified")
    most = _python(max_iterations, int, "max_iterations")
    single = isinstance(loop_vars, front.NDArrayBase)
    variables = [loop_vars] if single else list(loop_vars)
    if not variables:
        raise ValueError("loop_vars should contain at least one element")
    steps, nesting = [], []
    while len(steps) < most and _python(cond(*variables), bool, "Return value of cond"):
        output, changed = func(*variables)
        changed = [] if changed is None else changed
        changed = [changed] if isinstance(changed, front.NDArrayBase) else list(changed)
        if len(changed) != len(variables):
            raise ValueError("The length of loop_vars should be consistent during the loop")
        variables = changed
        arrays, nesting = flatten([] if output is None else output, "the output of func")
        steps.append(arrays)
        if len(arrays) != len(steps[0]):
            raise ValueError("Number of elements in step_output should be the same in each step")
    joined = (_padded(arrays, most) for arrays in zip(*steps, strict=True))
    return regroup(joined, nesting), variables[0] if single else variables


def _padded(arrays, count):
    """Stack arrays, padded with zeros to `count`."""
    shape = arrays[0].shape
    if any(array.shape != shape for array in arrays):
        raise ValueError(f"Shapes of step_output differ: {[array.shape for array in arrays]}")
    missing = count - len(arrays)
    if missing:
        first = arrays[0]
        filler = creation.zeros((missing, *shape), first.context, first.dtype)
        return F.concat(F.stack(*arrays), filler, dim=0)
    return F.stack(*arrays)


def cond(pred, then_func, else_func):
    """Call one of two functions, depending on a condition.

    Parameters
    ----------
    pred : NDArray or number
        A scalar; `then_func` is called if it is true.
    then_func, else_func : callable
        Functions without arguments.

    Returns
    -------
    NDArray or nested list of NDArray
    """
    for function, name in ((then_func, "then_func"), (else_func, "else_func")):
        if not callable(function):
            raise TypeError(f"cond: {name}: expected a function, got {type(function).__name__}")
    return then_func() if _python(pred, bool, "pred") else else_func()
