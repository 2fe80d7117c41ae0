"""Execution methods of Symbol: executors, evaluation and backend optimization."""

from mxcy._base import dtypes
from mxcy._execute.executor_arrays import requests_of
from mxcy._library.tracebacks import with_short_tracebacks
from mxcy.context import current_context
from mxcy.graph.backend import partition
from mxcy.graph.node import topological
from mxcy.ops.core.infer import Spec
from mxcy.symbol.inference import known_specs

__all__ = [
    "_bind",
    "_simple_bind",
    "bind",
    "eval",
    "get_backend_symbol",
    "has_dynamic_shape_op",
    "optimize_for",
    "simple_bind",
]


@with_short_tracebacks
def bind(
    self,
    ctx,
    args,
    args_grad=None,
    grad_req="write",
    aux_states=None,
    group2ctx=None,
    shared_exec=None,
):
    """Create an executor with given arrays.

    Parameters
    ----------
    ctx : Context
        Context of the operations.
    args : list of NDArray or dict of str to NDArray
        The arguments' arrays, in the order of `list_arguments` or by name.
    args_grad : list or dict of NDArray, optional
        Arrays for gradients; arguments without one get no gradient.
    grad_req : {'write', 'add', 'null'}, list or dict of them
        How gradients are stored.
    aux_states : list or dict of NDArray, optional
        Arrays of the auxiliary states.
    group2ctx : dict of str to Context, optional
        Contexts of operations with the attribute ``ctx_group``.
    shared_exec : Executor, optional
        An executor whose memory may be shared.

    Returns
    -------
    Executor

    Raises
    ------
    MXNetError
        If an array of `args` or `args_grad` lies on another context, without `group2ctx`.
    """
    from mxcy.symbol import binding

    if not group2ctx:
        binding.check_contexts(ctx, args, args_grad)
    return binding.bind(self, ctx, args, args_grad, grad_req, aux_states, group2ctx)


@with_short_tracebacks
def simple_bind(
    self,
    ctx,
    grad_req="write",
    type_dict=None,
    stype_dict=None,
    group2ctx=None,
    shared_arg_names=None,
    shared_exec=None,
    shared_buffer=None,
    **kwargs,
):
    """Create an executor with new arrays, initially zeros.

    Parameters
    ----------
    ctx : Context
        Context of the operations.
    grad_req : {'write', 'add', 'null'}, list or dict of them
        How gradients are stored.
    type_dict : dict of str to dtype, optional
        Dtypes of variables; by default inferred or float32.
    stype_dict : dict of str to str, optional
        Storage types of variables.
    group2ctx : dict of str to Context, optional
        Contexts of operations with the attribute ``ctx_group``.
    shared_arg_names : list of str, optional
        Arguments whose arrays are shared with `shared_exec`.
    shared_exec : Executor, optional
        An executor whose memory may be shared.
    shared_buffer : dict of str to NDArray, optional
        Arrays to use for variables of these names, if large enough.
    **kwargs : tuple of int
        Shapes of variables.

    Returns
    -------
    Executor
    """
    from mxcy.symbol.binding import simple_bind as make

    return make(
        self,
        ctx,
        grad_req,
        type_dict,
        stype_dict,
        group2ctx,
        shared_arg_names,
        shared_exec,
        shared_buffer,
        kwargs,
    )


def _bind(
    self,
    ctx=None,
    args=None,
    args_grad=None,
    grad_req="write",
    aux_states=None,
    static_alloc=False,
    *,
    device=None,
):
    """Create an executor: `bind` as in MXNet 2, with `device` for `ctx`.

    Arguments with request null have no gradient array, even if one is given. Arrays may lie on
    other devices.
    """
    from mxcy.symbol import binding

    names = self.list_arguments()
    if isinstance(args_grad, (list, tuple)):
        args_grad = dict(zip(names, args_grad, strict=False))
    if args_grad:
        requests = requests_of(grad_req, names)
        args_grad = {
            name: array for name, array in args_grad.items() if requests.get(name) != "null"
        }
    ctx = ctx if device is None else device
    return binding.bind(self, ctx, args, args_grad, grad_req, aux_states)


def _simple_bind(
    self, ctx=None, grad_req="write", type_dict=None, stype_dict=None, *, device=None, **kwargs
):
    """Create an executor and its arrays: `simple_bind` as in MXNet 2."""
    ctx = ctx if device is None else device
    return simple_bind(self, ctx, grad_req, type_dict, stype_dict, **kwargs)


def eval(self, ctx=None, **kwargs):
    """Compute the outputs.

    Parameters
    ----------
    ctx : Context, optional
        Context, by default the current one.
    **kwargs : NDArray
        Values of all arguments by name.

    Returns
    -------
    list of NDArray
    """
    return self.bind(current_context() if ctx is None else ctx, kwargs).forward()


def optimize_for(
    self,
    backend,
    args=None,
    aux=None,
    ctx=None,
    shape_dict=None,
    type_dict=None,
    stype_dict=None,
    skip_infer=False,
    **kwargs,
):
    """Replace operators by a backend's fused ones.

    Parameters
    ----------
    backend : str
        ``'ONEDNN'`` (or ``'MKLDNN'``), or ``'default'`` to enclose the operators selected by
        ``_LIB.MXSetSubgraphPropertyOpNamesV2`` in subgraphs.
    args, aux : list or dict of NDArray, optional
        Arrays of arguments and auxiliary states, for backends that use values.
    ctx : Context, optional
    shape_dict, type_dict, stype_dict : dict, optional
        Shapes, dtypes and storage types of variables.
    skip_infer : bool
        Whether to skip inference.
    **kwargs
        Options of the backend.

    Returns
    -------
    Symbol
        The optimized symbol; the symbol itself, with a warning, for an unknown backend.
    """
    from mxcy._execute.planned import target

    known = {} if skip_infer else _known(self, args, aux, shape_dict, type_dict)
    return type(self)(partition(self._entries, backend, target(), known, strict=False))


def _known(symbol, args, aux, shape_dict, type_dict):
    """Make {variable: Spec} from the arguments of `optimize_for`."""
    known = {}
    for names, arrays in ((symbol.list_arguments(), args), (symbol.list_auxiliary_states(), aux)):
        pairs = (
            arrays.items() if isinstance(arrays, dict) else zip(names, arrays or (), strict=False)
        )
        known.update({n: Spec(a.shape, a.dtype_code) for n, a in pairs if a is not None})
    for name, shape in (shape_dict or {}).items():
        known.setdefault(name, Spec()).shape = tuple(n if n > 0 else -1 for n in shape)
    for name, dtype in (type_dict or {}).items():
        known.setdefault(name, Spec()).dtype = dtypes.code_of(dtype)
    return known_specs(symbol, known)


def get_backend_symbol(self, backend):
    """Return the symbol as a backend would run it.

    Parameters
    ----------
    backend : str
        See `optimize_for`.

    Returns
    -------
    Symbol

    Raises
    ------
    MXNetError
        If there is no such backend, or no selection for it.
    """
    from mxcy._execute.planned import target

    return type(self)(partition(self._entries, backend, target()))


def has_dynamic_shape_op(self):
    """Return whether the shape of any output depends on values.

    Returns
    -------
    bool
    """
    return any(
        node.op is not None and node.op.eager is not None for node in topological(self._entries)
    )
