"""Binding of symbols to given or new arrays, which creates executors."""

from typing import Any

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy._base.suggestions import did_you_mean
from mxcy._execute.executor import Executor
from mxcy._execute.executor_arrays import requests_of, resized
from mxcy._execute.planned import training_graph
from mxcy._execute.sparse_executor import SparseExecutor, is_sparse_call, makes_sparse_values
from mxcy.context import Context, current_context
from mxcy.graph import selection
from mxcy.graph.control import expand
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer, infer_partial
from mxcy.graph.placement import placed
from mxcy.graph.storage_types import declared, infer_stypes
from mxcy.ops.core.infer import Spec
from mxcy.symbol.inference import known_specs

__all__ = ["bind", "check_contexts", "simple_bind", "storage_types", "variable_contexts"]


def bind(
    symbol,
    ctx,
    args,
    args_grad=None,
    grad_req="write",
    aux_states=None,
    group2ctx=None,
    shared_exec=None,
):
    """Bind a symbol to arrays; see `Symbol.bind`.

    Operations run on the context of their arrays, which the caller has placed according to
    `group2ctx`; outputs lie where their operators are. Executors share arrays but not intermediate
    memory, so `shared_exec` is not needed.
    """
    listed = [
        array
        for arrays in (args, args_grad, aux_states)
        for array in (arrays.values() if isinstance(arrays, dict) else arrays or ())
    ]
    kind = SparseExecutor if _is_sparse(symbol, listed) else Executor
    executor = kind(symbol, ctx, args, args_grad, grad_req, aux_states, _partitioned(symbol))
    return _with_placed_outputs(executor, symbol, group2ctx)


def check_contexts(ctx, args, args_grad):
    """Check that all arrays lie on the executor's context.

    Raises
    ------
    MXNetError
        If one does not.
    """
    ctx = Context(ctx)
    for given, argument in ((args, "args"), (args_grad, "args_grad")):
        for array in given.values() if isinstance(given, dict) else given or ():
            if isinstance(array, nd.NDArray) and array.context != ctx:
                raise MXNetError(
                    f"bind: {argument}: expected arrays on {ctx}, like the executor, got one on "
                    f"{array.context}; only with group2ctx may they lie on several contexts"
                )


def _with_placed_outputs(executor, symbol, group2ctx):
    """The executor, with outputs on the contexts of the operators that compute them."""
    if group2ctx and type(executor) is Executor:
        graph = from_entries(symbol._entries)
        arrays = {**executor.arg_dict, **executor.aux_dict}
        places = {name: array.context for name, array in arrays.items()}
        contexts = placed(graph, group2ctx, executor._ctx, places)
        moved = [
            output.as_in_context(contexts[number])
            for output, (number, _) in zip(executor.outputs, graph.outputs, strict=True)
        ]
        # a plan writes to one memory: to that of a device, or of the host for all other contexts
        if all(
            new.on_device == old.on_device for new, old in zip(moved, executor.outputs, strict=True)
        ):
            executor.outputs = moved
    return executor


def _partitioned(symbol):
    """Enclose the selected operators in subgraphs, if MXNET_SUBGRAPH_BACKEND says so."""
    backend = env.get("MXNET_SUBGRAPH_BACKEND")
    if backend not in selection.BACKENDS:
        return symbol
    return type(symbol)(selection.partition(symbol._entries, backend))


def _is_sparse(symbol, arrays):
    """Whether a symbol with these arrays needs a sparse executor."""
    present = [array for array in arrays if isinstance(array, nd.NDArray)]
    return (
        is_sparse_call(present)
        or makes_sparse_values(symbol._entries)
        or symbol.has_dynamic_shape_op()
    )


def simple_bind(
    symbol,
    ctx=None,
    grad_req="write",
    type_dict=None,
    stype_dict=None,
    group2ctx=None,
    shared_arg_names=None,
    shared_exec=None,
    shared_buffer=None,
    shapes=None,
):
    """Bind a symbol to new arrays of inferred shapes; see `Symbol.simple_bind`.

    Raises
    ------
    MXNetError
        If shapes or types cannot be inferred.
    """
    ctx = Context(ctx) if ctx is not None else current_context()
    specs = _inferred(symbol, _given(shapes or {}, type_dict or {}))
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    requests = requests_of(grad_req, arguments)
    wanted = [name for name in arguments if requests[name] != "null"]
    stypes, gradient_stypes = storage_types(symbol, specs, stype_dict or {}, wanted)
    shared = set(shared_arg_names or ())
    buffers = shared_buffer if shared_buffer is not None else {}
    places = variable_contexts(symbol, group2ctx, ctx)

    def array(name, kept, spec, stype, ctx):
        """Return the other executor's array, part of a shared buffer, or new zeros."""
        wanted = (spec.shape, spec.dtype, stype)
        if kept is not None and (kept.shape, kept.dtype_code, kept.stype) == wanted:
            return kept
        if stype != "default":
            return nd.zeros(spec.shape, ctx, dtypes.name_of(spec.dtype), stype)
        buffer = buffers.get(name)
        if buffer is None or buffer.dtype_code != spec.dtype or buffer.size < spec.size:
            buffer = nd.zeros(spec.shape, ctx=ctx, dtype=dtypes.name_of(spec.dtype))
            if shared_buffer is not None:
                buffers[name] = buffer
        return resized(buffer, spec.shape, name, True)

    def of(executor, kind, name):
        return None if executor is None else getattr(executor, kind).get(name)

    args: list[Any] = []
    gradients: list[Any] = []
    for name in arguments:
        source = shared_exec if shared_arg_names is None or name in shared else None
        kept, spec, place = of(source, "arg_dict", name), specs[name], places[name]
        args.append(array(name, kept, spec, stypes[name], place))
        if requests[name] == "null":
            gradients.append(None)
        else:
            kept = of(source, "grad_dict", name)
            stype = gradient_stypes[name]
            gradients.append(array(f"{name}_grad", kept, spec, stype, place))
    auxiliary = [
        array(name, of(shared_exec, "aux_dict", name), specs[name], "default", places[name])
        for name in states
    ]
    kind = SparseExecutor if _is_sparse(symbol, [*args, *gradients]) else Executor
    executor = kind(symbol, ctx, args, gradients, requests, auxiliary, _partitioned(symbol))
    return _with_placed_outputs(executor, symbol, group2ctx)


def variable_contexts(symbol, group2ctx, default):
    """Determine the contexts of variables from the groups of the symbol's operators.

    Parameters
    ----------
    symbol : Symbol
    group2ctx : dict of str to Context, or None
    default : Context
        Context of variables without a group.

    Returns
    -------
    dict of str to Context
    """
    if not group2ctx:
        return dict.fromkeys(symbol.list_inputs(), default)
    graph = from_entries(symbol._entries)
    contexts = placed(graph, group2ctx, default)
    return {graph.nodes[number].name: contexts[number] for number in graph.variables()}


def storage_types(symbol, specs, stype_dict, wanted):
    """Determine the storage types of a symbol's arguments and of their gradients.

    Parameters
    ----------
    symbol : Symbol
    specs : dict of str to Spec
        Complete Specs of all arguments and auxiliary states.
    stype_dict : dict of str to str
        Storage types not specified by the symbol.
    wanted : list of str
        Arguments with gradients.

    Returns
    -------
    (dict of str to str, dict of str to str)
    """
    graph = from_entries(symbol._entries, True)
    stypes = {
        node.name: stype_dict.get(node.name) or declared(node.extra)
        for node in graph.nodes
        if node.op is None
    }
    plain = all(stype == "default" for stype in stypes.values())
    if plain and not makes_sparse_values(symbol._entries):
        return stypes, dict.fromkeys(wanted, "default")
    graph = training_graph(expand(infer(graph, specs)), wanted)
    inferred = infer_stypes(graph, stypes)
    gradients = [inferred[number] for number, _ in graph.outputs[-len(wanted) :]] if wanted else []
    return stypes, dict(zip(wanted, gradients, strict=True))


def _given(shapes, types):
    """Make {variable: Spec} from the caller's arguments; 0 is an unknown dimension."""
    known = {}
    for name, shape in shapes.items():
        if not isinstance(shape, (tuple, list)):
            continue  # keywords of other kinds of bindings
        known[name] = Spec(tuple(-1 if n in (0, None) else int(n) for n in shape))
    for name, dtype in types.items():
        known.setdefault(name, Spec()).dtype = dtypes.code_of(dtype)
    return known


def _inferred(symbol, hints):
    """Infer {variable: complete Spec}; unknown dtypes become float32."""
    names = set(symbol.list_inputs())
    graph = from_entries(symbol._entries)
    # Shapes of inputs of a larger symbol, such as labels, are not an error.
    known = known_specs(symbol, {name: spec for name, spec in hints.items() if name in names})
    for _ in range(2):
        inferred = infer_partial(graph, known)
        specs = {graph.nodes[n].name: inferred[n][0] for n in graph.variables()}
        untyped = [name for name, spec in specs.items() if spec.dtype is None]
        for name in untyped:
            known[name] = Spec(specs[name].shape, dtypes.code_of("float32"))
        if not untyped:
            break
    lacking = [name for name, spec in specs.items() if not spec.known]
    if lacking:
        unused = "".join(
            f"; there is no argument {name!r}{did_you_mean(name, names)}"
            for name in hints.keys() - names
        )
        raise MXNetError(
            f"simple_bind: the shapes of {', '.join(lacking)} cannot be inferred{unused}"
        )
    return specs
