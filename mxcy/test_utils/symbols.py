"""Checks of symbols: values, gradients, dtypes, time."""

import json
import time

import numpy as np

from mxcy import ndarray as nd
from mxcy.context import current_context
from mxcy.ndarray import NDArray
from mxcy.test_utils.comparing import assert_almost_equal
from mxcy.test_utils.tolerances import default_dtype, default_numeric_eps

__all__ = [
    "check_numeric_gradient",
    "check_speed",
    "check_symbolic_backward",
    "check_symbolic_forward",
    "numeric_grad",
    "same_symbol_structure",
    "simple_forward",
]


def simple_forward(sym, ctx=None, is_train=False, **inputs):
    """Compute the outputs of a symbol.

    Parameters
    ----------
    sym : Symbol
        Symbol.
    ctx : Context, optional
        Context to compute on.
    is_train : bool
        Whether in training mode.
    **inputs : array_like
        Arguments of the symbol.

    Returns
    -------
    numpy.ndarray or list of numpy.ndarray
    """
    arrays = {name: nd.array(value) for name, value in inputs.items()}
    executor = sym.bind(ctx or current_context(), args=arrays)
    executor.forward(is_train=is_train)
    outputs = [output.asnumpy() for output in executor.outputs]
    return outputs[0] if len(outputs) == 1 else outputs


def _arrays(values, names, what, ctx, dtype):
    """Return NDArrays by name, from a dict or a list in the order of `names`."""
    if isinstance(values, dict):
        if set(values) != set(names):
            kind = "arguments" if what == "location" else "aux_states names"
            raise ValueError(
                f"Symbol {kind} and keys of the given {what} do not match."
                f"symbol args:{set(names)}, {what}.keys():{set(values)}"
            )
    else:
        values = dict(zip(names, values, strict=False))
    arrays = {}
    for name, value in values.items():
        own = value.dtype if dtype == "asnumpy" else dtype
        arrays[name] = (
            value.as_in_context(ctx)
            if isinstance(value, NDArray)
            else nd.array(value, ctx=ctx, dtype=own)
        )
    return arrays


def _prepared(sym, location, aux_states, ctx, dtype):
    ctx = ctx or current_context()
    arguments = _arrays(location, sym.list_arguments(), "location", ctx, dtype)
    states = {}
    if aux_states:
        states = _arrays(aux_states, sym.list_auxiliary_states(), "aux_states", ctx, dtype)
    return ctx, arguments, states or None


def check_symbolic_forward(
    sym,
    location,
    expected,
    rtol=None,
    atol=None,
    aux_states=None,
    ctx=None,
    equal_nan=False,
    dtype=default_dtype(),  # noqa: B008
):
    """Assert that the outputs of a symbol are as expected.

    Parameters
    ----------
    sym : Symbol
        Symbol.
    location : list or dict of arrays
        Arguments.
    expected : list or dict of arrays
        Expected outputs.
    rtol, atol, equal_nan
        See `assert_almost_equal`.
    aux_states : list or dict of arrays, optional
        Auxiliary states.
    ctx : Context, optional
        Context to compute on.
    dtype : type or 'asnumpy'
        Dtype of the arguments; 'asnumpy' keeps theirs.

    Returns
    -------
    list of NDArray
        Outputs.

    Raises
    ------
    AssertionError
        If they differ.
    """
    ctx, arguments, states = _prepared(sym, location, aux_states, ctx, dtype)
    if isinstance(expected, dict):
        expected = [expected[name] for name in sym.list_outputs()]
    executor = sym.bind(ctx, args=arguments, args_grad=None, aux_states=states)
    executor.forward(is_train=False)
    # As in MXNet, the shorter of both lists decides how many outputs are compared.
    for name, want, output in zip(sym.list_outputs(), expected, executor.outputs, strict=False):
        names = (f"EXPECTED_{name}", f"FORWARD_{name}")
        assert_almost_equal(want, output, rtol, atol, names, equal_nan=equal_nan)
    return executor.outputs


def check_symbolic_backward(
    sym,
    location,
    out_grads,
    expected,
    rtol=None,
    atol=None,
    aux_states=None,
    grad_req="write",
    ctx=None,
    grad_stypes=None,
    equal_nan=False,
    dtype=default_dtype(),  # noqa: B008
):
    """Assert that the gradients of a symbol's arguments are as expected.

    Parameters
    ----------
    sym, location, aux_states, ctx, dtype, rtol, atol, equal_nan
        See `check_symbolic_forward`.
    out_grads : list or dict of arrays, or None
        Head gradients of the outputs.
    expected : list or dict of arrays
        Expected gradients of the arguments.
    grad_req : str, list or dict of str
        Gradient requests; with 'add', gradients start from random values.
    grad_stypes : dict, optional
        Ignored: gradients are dense.

    Returns
    -------
    dict of str to NDArray
        Gradients; those with the request 'null' have the random values they began with.

    Raises
    ------
    AssertionError
        If they differ.
    """
    ctx, arguments, states = _prepared(sym, location, aux_states, ctx, dtype)
    names = sym.list_arguments()
    if isinstance(expected, list | tuple):
        expected = dict(zip(names, expected, strict=False))
    if isinstance(grad_req, str):
        grad_req = dict.fromkeys(names, grad_req)
    elif isinstance(grad_req, list | tuple):
        grad_req = dict(zip(names, grad_req, strict=True))
    before = {n: np.random.normal(size=arguments[n].shape) for n in expected}
    grads = {n: nd.array(v, ctx=ctx, dtype=arguments[n].dtype) for n, v in before.items()}
    executor = sym.bind(ctx, arguments, args_grad=grads, grad_req=grad_req, aux_states=states)
    executor.forward(is_train=True)
    if isinstance(out_grads, dict):
        out_grads = [out_grads[name] for name in sym.list_outputs()]
    if out_grads is not None:
        out_grads = [
            nd.array(_as_numpy(head), ctx=ctx, dtype=output.dtype)
            for head, output in zip(out_grads, executor.outputs, strict=True)
        ]
    executor.backward(out_grads)
    for name, want in expected.items():
        _compare_gradient(
            grad_req[name],
            _as_numpy(want),
            before[name],
            grads[name],
            name,
            "EXPECTED",
            rtol,
            atol,
            equal_nan,
        )
    return grads


def _as_numpy(value):
    return value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)


def _compare_gradient(request, want, before, gradient, name, kind, rtol, atol, equal_nan=False):
    """Compare a gradient, given its request and the array's content `before`."""
    if request == "add":
        gradient = gradient.asnumpy() - before.astype(gradient.dtype)
    elif request == "null":
        want = before.astype(gradient.dtype)
    assert_almost_equal(
        want, gradient, rtol, atol, (f"{kind}_{name}", f"BACKWARD_{name}"), equal_nan=equal_nan
    )


def _differences(executor, location, aux_states, eps, train, value):
    """Return the gradients of a function of the outputs by central differences, by name."""

    def evaluate():
        for name, state in (aux_states or {}).items():
            executor.aux_dict[name][:] = state
        executor.forward(is_train=train)
        return value([output.asnumpy().astype(np.float64) for output in executor.outputs])

    differences = {}
    for name, array in location.items():
        point = _as_numpy(array)
        if not np.issubdtype(point.dtype, np.floating):
            continue
        gradient = np.zeros(point.shape)
        for index in np.ndindex(point.shape):
            moved = point.copy()
            moved[index] = point[index] + eps / 2
            executor.arg_dict[name][:] = moved
            above = evaluate()
            moved[index] = point[index] - eps / 2
            executor.arg_dict[name][:] = moved
            gradient[index] = (above - evaluate()) / eps
        executor.arg_dict[name][:] = point
        differences[name] = gradient.astype(executor.arg_dict[name].dtype)
    return differences


def numeric_grad(
    executor,
    location,
    aux_states=None,
    eps=1e-4,
    use_forward_train=True,
    dtype=default_dtype(),  # noqa: B008
):
    """Compute the gradients of the sum of the first output by finite differences.

    Parameters
    ----------
    executor : Executor
        Bound symbol.
    location : dict of str to array
        Arguments, perturbed one element at a time.
    aux_states : dict of str to NDArray, optional
        Initial auxiliary states of each evaluation.
    eps : float
        Step size.
    use_forward_train : bool
        Whether to compute in training mode.
    dtype : type
        Ignored: gradients have the arguments' dtypes.

    Returns
    -------
    dict of str to numpy.ndarray
    """
    for name, array in location.items():
        executor.arg_dict[name][:] = array
    return _differences(
        executor, location, aux_states, eps, use_forward_train, lambda outputs: outputs[0].sum()
    )


def check_numeric_gradient(
    sym,
    location,
    aux_states=None,
    numeric_eps=None,
    rtol=None,
    atol=None,
    grad_nodes=None,
    use_forward_train=True,
    ctx=None,
    grad_stype_dict=None,
    dtype=default_dtype(),  # noqa: B008
):
    """Assert that the gradients of a symbol's arguments agree with finite differences.

    Parameters
    ----------
    sym, location, aux_states, ctx, dtype, rtol, atol
        See `check_symbolic_forward`.
    numeric_eps : float, optional
        Step size, by default that of `default_numeric_eps`.
    grad_nodes : list of str, or dict of str to str, optional
        Arguments to check, or gradient requests by argument; all by default.
    use_forward_train : bool
        Whether to compute differences in training mode.
    grad_stype_dict : dict, optional
        Ignored: gradients are dense.

    Raises
    ------
    AssertionError
        If they differ.
    ValueError
        If `grad_nodes` is neither a list nor a dict.
    """
    ctx, arguments, states = _prepared(sym, location, aux_states, ctx, dtype)
    assert dtype == "asnumpy" or np.issubdtype(dtype, np.floating), "differences need real numbers"
    names = sym.list_arguments()
    if grad_nodes is None:
        grad_nodes = names
    if isinstance(grad_nodes, list | tuple):
        requests = {name: "write" if name in grad_nodes else "null" for name in names}
    elif isinstance(grad_nodes, dict):
        requests = {name: grad_nodes.get(name, "null") for name in names}
    else:
        raise ValueError(f"grad_nodes must be a list or a dict, got {type(grad_nodes).__name__}")
    looked_at = [name for name in names if name in grad_nodes]
    kind = next(iter(arguments.values())).dtype if dtype == "asnumpy" else dtype
    eps = default_numeric_eps()[np.dtype(kind)] if numeric_eps is None else numeric_eps
    before = {n: np.random.normal(0, 0.01, size=arguments[n].shape) for n in looked_at}
    grads = {n: nd.array(v, ctx=ctx, dtype=arguments[n].dtype) for n, v in before.items()}
    first_states = {n: state.asnumpy() for n, state in (states or {}).items()}
    executor = sym.bind(ctx, arguments, args_grad=grads, grad_req=requests, aux_states=states)
    executor.forward(is_train=True)
    # Random weights reveal errors that a plain sum of the outputs would hide.
    outputs = executor.outputs
    weights = [np.random.rand(*output.shape) + 0.1 for output in outputs]
    heads = zip(weights, outputs, strict=True)
    executor.backward([nd.array(weight, ctx=ctx, dtype=out.dtype) for weight, out in heads])
    numeric = _differences(
        executor,
        {name: arguments[name] for name in looked_at},
        first_states,
        eps,
        use_forward_train,
        lambda outputs: sum((w * o).sum() for w, o in zip(weights, outputs, strict=True)),
    )
    for name in looked_at:
        _compare_gradient(
            requests[name], numeric[name], before[name], grads[name], name, "NUMERICAL", rtol, atol
        )


def check_speed(sym, location=None, ctx=None, N=20, grad_req=None, typ="whole", **kwargs):
    """Measure the time of a symbol.

    Parameters
    ----------
    sym : Symbol
        Symbol.
    location : dict of str to array, optional
        Arguments; random by default.
    ctx : Context, optional
        Context to compute on.
    N : int
        Number of runs.
    grad_req : str, list or dict of str, optional
        Gradient requests, 'write' by default.
    typ : {'whole', 'forward'}
        Forward and backward, or forward only.
    **kwargs : tuple of int
        Shapes of the arguments, if `location` is not given.

    Returns
    -------
    float
        Seconds per run.

    Raises
    ------
    ValueError
        If `typ` is invalid.
    """
    if typ not in ("whole", "forward"):
        raise ValueError('typ can only be "whole" or "forward".')
    if location is not None:
        kwargs = {name: array.shape for name, array in location.items()}
    requests = (grad_req or "write") if typ == "whole" else "null"
    executor = sym.simple_bind(ctx or current_context(), grad_req=requests, **kwargs)
    for name, array in executor.arg_dict.items():
        is_given = location is not None and name in location
        array[:] = location[name] if is_given else np.random.normal(size=array.shape)
    heads = [nd.ones_like(output) for output in executor.outputs]

    def run():
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(heads)
        for output in executor.outputs:
            output.wait_to_read()

    run()
    begin = time.time()
    for _ in range(N):
        run()
    return (time.time() - begin) / N


def same_symbol_structure(sym1, sym2):
    """Return whether two symbols have the same operators in the same order, ignoring names."""
    first, second = (
        [(node["op"], [entry[:2] for entry in node["inputs"]]) for node in graph["nodes"]]
        for graph in (json.loads(sym1.tojson()), json.loads(sym2.tojson()))
    )
    return first == second
