"""Consistency checks between different ways of computing the same result."""

import numpy as np

from mxcy import autograd, random
from mxcy import ndarray as nd
from mxcy.test_utils.comparing import assert_almost_equal, compare_ndarray_tuple
from mxcy.test_utils.sparse_arrays import rand_ndarray
from mxcy.test_utils.tolerances import default_atols, default_rtols

__all__ = [
    "check_consistency",
    "check_gluon_hybridize_consistency",
    "compare_optimizer",
    "compare_optimizer_noise_seeded",
]


def check_consistency(
    sym,
    ctx_list,
    scale=1.0,
    grad_req="write",
    arg_params=None,
    aux_params=None,
    rtol=None,
    atol=None,
    raise_on_err=True,
    ground_truth=None,
    equal_nan=False,
    use_uniform=False,
    rand_type=np.float64,
):
    """Assert that outputs and gradients of a symbol agree across contexts and dtypes.

    Parameters
    ----------
    sym : Symbol or list of Symbol
        Symbol, or one per configuration.
    ctx_list : list of dict
        Configurations: ``ctx``, shapes by argument name, and dtypes in ``type_dict``.
    scale : float
        Standard deviation of random arguments.
    grad_req : str or dict of str to str
        Gradient request.
    arg_params, aux_params : dict of str to array, optional
        Values of arguments and auxiliary states; arguments are random and states 0 by default.
    rtol, atol : float or dict of numpy.dtype to float, optional
        Tolerances.
    raise_on_err : bool
        Whether to raise an AssertionError, or only print.
    ground_truth : dict of str to array, optional
        Reference results; by default those of the most precise configuration.
    equal_nan : bool
        Whether NaNs are equal.
    use_uniform : bool
        Draw arguments uniformly from [-`scale`, `scale`] instead.
    rand_type : type
        Dtype in which random arguments are drawn.

    Returns
    -------
    dict of str to NDArray
        Reference outputs, and gradients unless `grad_req` is 'null': those of half the sum
        of the squared outputs.
    """
    assert len(ctx_list) > 1, "there must be two ways to compare"
    symbols = sym if isinstance(sym, list) else [sym] * len(ctx_list)
    names = symbols[0].list_outputs()
    for other in symbols[1:]:
        assert other.list_outputs() == names, "the symbols' outputs have different names"
        assert other.list_arguments() == symbols[0].list_arguments(), "their arguments differ"
    executors = []
    for each_symbol, description in zip(symbols, ctx_list, strict=True):
        executors.append(each_symbol.simple_bind(grad_req=grad_req, **description))
    values = dict(arg_params or {})
    for name, array in executors[0].arg_dict.items():
        if name not in values:
            draw = (
                np.random.uniform(-scale, scale, array.shape)
                if use_uniform
                else (np.random.normal(size=array.shape, scale=scale))
            )
            values[name] = draw.astype(rand_type)
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = values[name]
        for name, array in executor.aux_dict.items():
            array[:] = (aux_params or {}).get(name, 0)
    results = [_results(executor, names, grad_req) for executor in executors]
    precision = [np.dtype(executor.outputs[0].dtype).itemsize for executor in executors]
    best = int(np.argmax(precision))
    truth = results[best] if ground_truth is None else ground_truth
    for i, (result, executor) in enumerate(zip(results, executors, strict=True)):
        if ground_truth is None and i == best:
            continue
        kind = np.dtype(executor.outputs[0].dtype)
        tolerances = _of_dtype(rtol, default_rtols(), kind), _of_dtype(atol, default_atols(), kind)
        for name, array in result.items():
            try:
                assert_almost_equal(array, truth[name], *tolerances, equal_nan=equal_nan)
            except AssertionError as error:
                text = f"{name} of way {i} ({ctx_list[i]}) differs from way {best}: {error}"
                if raise_on_err:
                    raise AssertionError(text) from None
                print(text)
    return truth


def _of_dtype(tolerance, defaults, dtype):
    if tolerance is None:
        return defaults.get(dtype, 0)
    return (
        tolerance.get(dtype, defaults.get(dtype, 0)) if isinstance(tolerance, dict) else tolerance
    )


def _results(executor, names, grad_req):
    """Return outputs (by `names`) and gradients by name."""
    training = grad_req != "null"
    executor.forward(is_train=training)
    outputs = zip(names, executor.outputs, strict=True)
    values = {name: array.copy() for name, array in outputs}
    if training:
        # Outputs as their own head gradients: unlike ones, these tell the outputs apart.
        executor.backward(executor.outputs)
        values.update(
            (name, array.copy()) for name, array in executor.grad_dict.items() if array is not None
        )
    return values


def compare_optimizer(
    opt1,
    opt2,
    shape,
    dtype,
    w_stype="default",
    g_stype="default",
    rtol=1e-4,
    atol=1e-5,
    compare_states=True,
    ntensors=1,
):
    """Assert that two optimizers update random weights equally.

    Parameters
    ----------
    opt1, opt2 : Optimizer
        Optimizers to compare.
    shape : tuple of int, or list of them
        Shape of the weight, or shapes of `ntensors` weights.
    dtype : str or type
        Dtype of the weights.
    w_stype, g_stype : {'default', 'row_sparse', 'csr'}
        Storage types of weights (with all elements stored) and gradients.
    rtol, atol : float
        Tolerances.
    compare_states : bool
        Compare the optimizers' states, too.
    ntensors : int
        Number of weights to update together.

    Raises
    ------
    AssertionError
        When they differ.
    """
    shapes = shape if isinstance(shape, list) else [shape] * ntensors
    _compare_updates(opt1, opt2, shapes, dtype, (w_stype, g_stype), rtol, atol, compare_states)


def compare_optimizer_noise_seeded(
    opt1,
    opt2,
    shapes,
    dtype,
    noise_seed,
    w_stype="default",
    g_stype="default",
    rtol=1e-4,
    atol=1e-5,
    compare_states=True,
):
    """Compare as `compare_optimizer`, for random optimizers, seeding both with `noise_seed`."""
    _compare_updates(
        opt1, opt2, shapes, dtype, (w_stype, g_stype), rtol, atol, compare_states, noise_seed
    )


def _compare_updates(
    opt1, opt2, shapes, dtype, storage, rtol, atol, compare_states, noise_seed=None
):
    of_weights, of_gradients = storage
    weights = [_random(shape, of_weights, dtype, density=1) for shape in shapes]
    grads = [_random(shape, of_gradients, dtype) for shape in shapes]
    results = []
    for optimizer in (opt1, opt2):
        own = [weight.copy() for weight in weights]
        states = [optimizer.create_state_multi_precision(i, weight) for i, weight in enumerate(own)]
        if noise_seed is not None:
            random.seed(noise_seed)
        for i, (weight, grad) in enumerate(zip(own, grads, strict=True)):
            optimizer.update_multi_precision(i, weight, grad.copy(), states[i])
        results.append((own, states))
    (own1, states1), (own2, states2) = results
    for weight1, weight2 in zip(own1, own2, strict=True):
        assert_almost_equal(weight1, weight2, rtol=rtol, atol=atol)
    if compare_states:
        compare_ndarray_tuple(_nested(states1), _nested(states2), rtol, atol)


def _random(shape, stype, dtype, density=None):
    if stype != "default":
        return rand_ndarray(shape, stype, density=density, dtype=dtype)
    return nd.array(np.random.uniform(-1, 1, shape), dtype=dtype)


def _nested(states):
    """Convert nested lists to tuples."""
    return tuple(map(_nested, states)) if isinstance(states, list | tuple) else states


def check_gluon_hybridize_consistency(
    net_builder, data_l, numpy_func=None, test_grad=True, rtol=1e-4, atol=1e-4
):
    """Assert that a block computes the same with and without `hybridize`.

    Parameters
    ----------
    net_builder : callable
        Function that creates the block.
    data_l : list of NDArray
        Inputs of the block.
    numpy_func : callable, optional
        The same function of NumPy arrays, to compare with as well.
    test_grad : bool
        Compare gradients of inputs and parameters, too.
    rtol, atol : float
        Tolerances.

    Raises
    ------
    AssertionError
        If there is a difference.
    """
    results, parameters = [], None
    for hybridized in (False, True):
        net = net_builder()
        if hybridized:
            net.hybridize()
        net.initialize()
        inputs = [array.copy() for array in data_l]
        net(*inputs)  # the first call infers parameter shapes
        own = [p for p in net.collect_params().values() if p.grad_req != "null"]
        if parameters is None:
            parameters = [p.data().asnumpy() for p in own]
        for parameter, value in zip(own, parameters, strict=True):
            parameter.set_data(nd.array(value, dtype=value.dtype))
        if test_grad:
            for array in inputs:
                array.attach_grad()
            with autograd.record():
                output = net(*inputs)
            output.backward()
            gradients = [array.grad.asnumpy() for array in inputs]
            gradients += [p.grad().asnumpy() for p in own]
        else:
            output, gradients = net(*inputs), []
        results.append((output.asnumpy(), gradients))
    (eager, eager_gradients), (hybrid, hybrid_gradients) = results
    assert_almost_equal(eager, hybrid, rtol=rtol, atol=atol)
    if numpy_func is not None:
        expected = numpy_func(*[array.asnumpy() for array in data_l])
        assert_almost_equal(expected, eager, rtol=rtol, atol=atol)
    for eager, hybrid in zip(eager_gradients, hybrid_gradients, strict=True):
        assert_almost_equal(eager, hybrid, rtol=rtol, atol=atol)
