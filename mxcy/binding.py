"""Binding symbols to arrays that are given or made: what makes executors."""

from mxcy import dtypes
from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.context import Context, current_context
from mxcy.executor import Executor, requests_of, resized
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer_partial
from mxcy.ops.infer import Spec
from mxcy.symbol.inference import known_specs

__all__ = ["bind", "simple_bind"]


def bind(
    symbol, ctx, args, args_grad=None, grad_req="write", aux_states=None, group2ctx=None,
    shared_exec=None,
):  # fmt: skip
    """Bind a symbol to arrays; see `Symbol.bind`.

    Operations run where their arrays are, so that `group2ctx` places nothing; executors share
    arrays, not the memory between, so that `shared_exec` is not needed.
    """
    return Executor(symbol, ctx, args, args_grad, grad_req, aux_states)


def simple_bind(
    symbol, ctx=None, grad_req="write", type_dict=None, stype_dict=None, group2ctx=None,
    shared_arg_names=None, shared_exec=None, shared_buffer=None, shapes=None,
):  # fmt: skip
    """Bind a symbol to new arrays of inferred shapes; see `Symbol.simple_bind`.

    Raises
    ------
    MXNetError
        When shapes or types cannot be inferred.
    """
    ctx = Context(ctx) if ctx is not None else current_context()
    specs = _inferred(symbol, _given(shapes or {}, type_dict or {}))
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    requests = requests_of(grad_req, arguments)
    shared = set(shared_arg_names or ())
    buffers = shared_buffer if shared_buffer is not None else {}

    def array(name, kept, spec):
        """The other executor's array, a part of a shared buffer, or a new array of zeros."""
        if kept is not None and kept.shape == spec.shape and kept.dtype_code == spec.dtype:
            return kept
        found = buffers.get(name)
        if found is None or found.dtype_code != spec.dtype or found.size < spec.size:
            found = nd.zeros(spec.shape, ctx=ctx, dtype=dtypes.name_of(spec.dtype))
            if shared_buffer is not None:
                buffers[name] = found
        return resized(found, spec.shape, name, True)

    def of(executor, kind, name):
        return None if executor is None else getattr(executor, kind).get(name)

    args, gradients = [], []
    for name in arguments:
        source = shared_exec if shared_arg_names is None or name in shared else None
        args.append(array(name, of(source, "arg_dict", name), specs[name]))
        if requests[name] == "null":
            gradients.append(None)
        else:
            kept = of(source, "grad_dict", name)
            gradients.append(array(f"{name}_grad", kept, specs[name]))
    auxiliary = [array(name, of(shared_exec, "aux_dict", name), specs[name]) for name in states]
    return Executor(symbol, ctx, args, gradients, requests, auxiliary)


def _given(shapes, types):
    """{variable: Spec} of what the caller says; 0 stands for an unknown extent."""
    known = {}
    for name, shape in shapes.items():
        known[name] = Spec(tuple(-1 if n in (0, None) else int(n) for n in shape))
    for name, dtype in types.items():
        known.setdefault(name, Spec()).dtype = dtypes.code_of(dtype)
    return known


def _inferred(symbol, given):
    """{variable: complete Spec}; variables of unknown dtype become float32."""
    names = set(symbol.list_inputs())
    graph = from_entries(symbol._entries)
    # Shapes of inputs that only a larger symbol has, such as labels, are no mistake.
    known = known_specs(symbol, {name: spec for name, spec in given.items() if name in names})
    for _ in range(2):
        found = infer_partial(graph, known)
        specs = {graph.nodes[n].name: found[n][0] for n in graph.variables()}
        untyped = [name for name, spec in specs.items() if spec.dtype is None]
        for name in untyped:
            known[name] = Spec(specs[name].shape, dtypes.code_of("float32"))
        if not untyped:
            break
    lacking = [name for name, spec in specs.items() if not spec.known]
    if lacking:
        raise MXNetError(f"simple_bind: the shapes of {', '.join(lacking)} cannot be inferred")
    return specs
