"""Conversion of trained models to mixed precision."""

from mxcy import symbol as sym
from mxcy._base import dtypes
from mxcy._base.warning import warn
from mxcy.amp.speed import warn_once
from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.symbol_block import SymbolBlock
from mxcy.graph.node import topological
from mxcy.graph.passes import amp as conversion
from mxcy.module import BucketingModule
from mxcy.ndarray import NDArray
from mxcy.ops.core.precision import Policy, is_exempt
from mxcy.ops.core.precision_lists import list_of, name_of_target, record_of
from mxcy.symbol import Symbol

__all__ = ["convert_bucketing_module", "convert_hybrid_block", "convert_model", "convert_symbol"]


def convert_symbol(
    sym,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    data_names=None,
    cast_optional_params=False,
    *,
    input_dtypes=None,
    param_dtypes=None,
    cast_params_offline=False,
):
    """Insert the casts of mixed precision into a symbol; its outputs are float32.

    Parameters
    ----------
    sym : Symbol
    target_dtype : str, type or numpy.dtype
        ``'float16'`` or ``'bfloat16'``.
    target_dtype_ops, fp32_ops : list of str, optional
        Operators that run in the target dtype and in float32, instead of
        `mx.amp.list_lp16_ops` and `mx.amp.list_fp32_ops`.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Operators that run in float32 for certain values of an attribute.
    excluded_sym_names : list of str, optional
        Names of nodes that run in float32.
    data_names : list of str, optional
        Variables that are not parameters; by default those without a ``__dtype__``.
    cast_optional_params, cast_params_offline : bool
        Store parameters that are only used in the target dtype in that dtype.
    input_dtypes, param_dtypes : dict of str to type, optional
        Dtypes of inputs and parameters by name, required by later versions of MXNet.

    Returns
    -------
    Symbol

    Raises
    ------
    AssertionError
        If an argument has the wrong type, or an operator is in two lists or in a wrong one.
    """
    assert isinstance(sym, Symbol), "First argument to convert_symbol should be Symbol"
    policy = _policy(target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops)
    warn_once(policy.target)
    names = sym.list_inputs()
    if param_dtypes is not None or input_dtypes is not None:
        data_names = list(input_dtypes or ()) if data_names is None else data_names
    if data_names is not None:
        _check_texts("data_names", data_names)
    excluded = _excluded(sym, excluded_sym_names)
    entries = conversion.convert(
        _declared(sym._entries, param_dtypes),
        policy,
        excluded,
        None if data_names is None else {name for name in names if name in data_names},
        cast_optional_params or cast_params_offline,
    )
    return type(sym)(entries)


def _declared(entries, kinds):
    """Declare the dtypes of variables in a graph's entries."""
    if kinds:
        entries = sym.Symbol(entries).__copy__()._entries
        for node in topological(entries):
            if node.op is None and node.name in kinds:
                node.attrs["__dtype__"] = str(dtypes.code_of(kinds[node.name]))
    return entries


def _check_texts(name, values):
    valid = isinstance(values, list) and all(isinstance(value, str) for value in values)
    assert valid, f"{name} should be a list of strs"


def _policy(target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops):
    """Check the arguments and return their Policy."""
    target = name_of_target(target_dtype)
    assert target, (
        f"Only target_dtype float16 and bfloat16 are supported currently, received {target_dtype!r}"
    )
    for name, ops in (("target_dtype_ops", target_dtype_ops), ("fp32_ops", fp32_ops)):
        if ops is not None:
            _check_texts(name, ops)
    conditional = conditional_fp32_ops
    if conditional is not None:
        assert isinstance(conditional, list), "conditional_fp32_ops should be a list"
        for row in conditional:
            valid = isinstance(row, tuple) and len(row) == 3 and isinstance(row[2], list)
            assert valid, "conditional_fp32_ops should be a list of (str, str, list of str)"
    lists = {
        "target_dtype_ops": _or_default(target_dtype_ops, "lp16", target),
        "fp32_ops": _or_default(fp32_ops, "fp32", target),
        "conditional_fp32_ops": [
            row[0]
            for row in _or_default(conditional, "conditional", target)
            if conditional is not None or not _is_listed(row[0], target_dtype_ops, fp32_ops)
        ],
    }
    _refuse_common(lists)
    known = {*list_of("lp16", target, True), *list_of("fp32", target, True)}
    known.update(list_of("either", target, True))
    for name, ops in (("target_dtype_ops", target_dtype_ops), ("fp32_ops", fp32_ops)):
        unknown = {op for op in ops or () if op not in known and not _is_conditional(op, target)}
        assert not unknown, (
            f"{name}: Op {unknown} not in any of them. Can only choose ops from one of the three "
            "lists: amp.list_lp16_ops(target_dtype), amp.list_fp32_ops(target_dtype), "
            "amp.list_lp16_fp32_ops(target_dtype)"
        )
    return Policy(target, target_dtype_ops, fp32_ops, conditional, record_of)


def _or_default(chosen, kind, target):
    return list_of(kind, target) if chosen is None else chosen


def _is_listed(name, *lists):
    return any(name in names for names in lists if names is not None)


def _is_conditional(name, target):
    return any(name == row[0] for row in list_of("conditional", target, True))


def _refuse_common(lists):
    names = list(lists)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            common = set(lists[first]) & set(lists[second])
            assert not common, (
                f"Ops cannot be in two or more lists. Common ops in {first} and {second} {common}"
            )


def _excluded(symbol, names):
    """Check and return the names of nodes that run in float32."""
    nodes = [node for node in topological(symbol._entries) if node.op is not None]
    known = {node.name for node in nodes}
    if names is not None:
        _check_texts("excluded_sym_names", names)
        unknown = [name for name in names if name not in known]
        if unknown:
            warn(f"excluded_sym_names: unknown nodes {unknown}")
    kept = {node.name for node in nodes if is_exempt(node.attrs)}
    return kept | set(names or ())


def convert_model(
    sym,
    arg_params,
    aux_params,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    cast_optional_params=False,
    *,
    input_dtypes=None,
    cast_params_offline=False,
):
    """Convert a symbol and its parameters to mixed precision.

    Parameters
    ----------
    sym : Symbol
    arg_params, aux_params : dict of str to NDArray
        Parameters, which are not modified.
    target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names
        See `convert_symbol`.
    cast_optional_params, cast_params_offline : bool
        See `convert_symbol`.
    input_dtypes : dict of str to type, optional
        See `convert_symbol`.

    Returns
    -------
    (Symbol, dict of str to NDArray, dict of str to NDArray)

    Raises
    ------
    AssertionError
        If an argument has the wrong type.
    """
    assert isinstance(sym, Symbol), "First argument to convert_model should be Symbol"
    for name, params in (("Second", arg_params), ("Third", aux_params)):
        valid = isinstance(params, dict)
        assert valid, f"{name} argument to convert_model should be a dict of name to ndarray"
    data_names = [n for n in sym.list_inputs() if n not in arg_params and n not in aux_params]
    converted = convert_symbol(
        sym,
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        data_names,
        cast_optional_params or cast_params_offline,
        input_dtypes=input_dtypes,
    )
    kinds = _kinds(converted)
    return converted, *(
        {n: _as(array, kinds.get(n)) for n, array in params.items()}
        for params in (arg_params, aux_params)
    )


def _kinds(symbol):
    """The declared dtypes of variables."""
    nodes = [node for node in topological(symbol._entries) if node.op is None]
    codes = {node.name: int(node.attrs.get("__dtype__", "-1")) for node in nodes}
    return {name: dtypes.name_of(code) for name, code in codes.items() if code >= 0}


def _as(array, kind):
    """Cast an array to a floating dtype; integers are unchanged."""
    if kind is None or not dtypes.is_float(array.dtype_code):
        return array
    return array.astype(kind, copy=False)


def convert_hybrid_block(
    block,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    ctx=None,
    cast_optional_params=False,
    *,
    device=None,
    data_example=None,
    cast_params_offline=False,
):
    """Convert a hybridized block, after a call, to mixed precision for prediction.

    As in later versions of MXNet, the second argument may be an example of the inputs, followed by
    the target dtype; the block is then hybridized and called with the example.

    Parameters
    ----------
    block : HybridBlock
    target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names
        See `convert_symbol`.
    ctx, device : Context or list of Context, optional
        Contexts of the parameters; unchanged by default.
    cast_optional_params, cast_params_offline : bool
        See `convert_symbol`.
    data_example : NDArray or list of NDArray, optional
        Example inputs for the first call.

    Returns
    -------
    SymbolBlock

    Raises
    ------
    AssertionError
        If `block` is not a HybridBlock.
    RuntimeError
        If it has not been hybridized and called.
    """
    assert isinstance(block, HybridBlock), "block input should be a HybridBlock"
    if _is_example(target_dtype):
        data_example = target_dtype
        target_dtype, target_dtype_ops = target_dtype_ops or "float16", None
    if data_example is not None:
        _run_on(block, data_example)
    trace = block._only_trace()
    if trace is None:
        raise RuntimeError(
            "Please first call block.hybridize() and then run forward with this block at least "
            "once before calling export."
        )
    converted = convert_symbol(
        trace.symbol,
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        list(trace.inputs),
        cast_optional_params or cast_params_offline,
    )
    return _block_of(converted, trace, ctx or device)


def _is_example(value):
    return isinstance(value, NDArray) or (
        isinstance(value, (list, tuple)) and any(isinstance(item, NDArray) for item in value)
    )


def _run_on(block, example):
    """Trace a block with example inputs."""
    if not block._active:
        block.hybridize()
    block(*example) if isinstance(example, (list, tuple)) else block(example)


def _block_of(symbol, trace, contexts):
    """Create the SymbolBlock of a converted symbol, with the parameters of its trace."""
    converted = SymbolBlock(symbol, trace.input_symbols())
    converted._trace.form, converted._trace.in_form = trace.form, trace.in_form
    kinds = _kinds(symbol)
    parameters = converted.collect_params()
    for name, parameter in trace.parameters.items():
        if name not in parameters:
            continue
        own = parameters[name]
        value = parameter._reduce()
        own.cast(kinds.get(name, "float32"))
        own._load_init(value, contexts or parameter.list_ctx(), cast_dtype=True)
        own.lr_mult, own.wd_mult = parameter.lr_mult, parameter.wd_mult
        own.grad_req = parameter.grad_req
    return converted


def convert_bucketing_module(
    bucketing_mod,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    cast_optional_params=False,
):
    """Convert all networks of a bucketing module to mixed precision.

    Parameters
    ----------
    bucketing_mod : BucketingModule
        Module with parameters.
    target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names
        See `convert_symbol`.
    cast_optional_params : bool
        See `convert_symbol`.

    Returns
    -------
    BucketingModule
        Module whose parameters are set when it is bound.

    Raises
    ------
    AssertionError
        If it is not a BucketingModule.
    """
    valid = isinstance(bucketing_mod, BucketingModule)
    assert valid, "module should be instance of bucketing module"
    arg_params, aux_params = bucketing_mod.get_params()
    options = (target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops)

    def converted(bucket_key):
        symbol, data_names, label_names = bucketing_mod._call_sym_gen(bucket_key)
        inputs = [*(data_names or ()), *(label_names or ())]
        symbol = convert_symbol(symbol, *options, excluded_sym_names, inputs, cast_optional_params)
        return symbol, data_names, label_names

    converted_symbol, _, _ = converted(bucketing_mod._default_bucket_key)
    kinds = _kinds(converted_symbol)
    params = [
        {name: _as(array, kinds.get(name)) for name, array in arrays.items()}
        for arrays in (arg_params, aux_params)
    ]
    return BucketingModule.load_dict(
        {}, converted, bucketing_mod._default_bucket_key, *params, **bucketing_mod._options
    )
