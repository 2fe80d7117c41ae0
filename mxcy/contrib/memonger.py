"""Training deep networks in less memory by recomputation (gradient checkpointing).

Only values at the boundaries of stages are kept. With n equal layers in about sqrt(n) stages, the
memory of activations grows like sqrt(n), at the cost of one more forward pass. A plan marks the
symbol's operators with the attribute ``force_mirroring``, which all executors obey. If there are
operators with the attribute ``mirror_stage``, stages end at these only.
"""

from mxcy._base.dtypes import CODES, code_of
from mxcy._execute.planned import target
from mxcy.base import MXNetError
from mxcy.graph.analysis.stages import borders
from mxcy.graph.control import expand
from mxcy.graph.gradient import gradient
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.node import topological
from mxcy.graph.passes import mirror
from mxcy.graph.planning.plan import own_outputs, prepare_all
from mxcy.ops.core.infer import Spec

__all__ = ["get_cost", "make_mirror_plan", "search_plan"]

_STAGE = "__mirror_stage__"
_MEGABYTE = 2**20


def search_plan(sym, ntrial=12, type_dict=None, **shapes):
    """Search for the stages that minimize the memory of training.

    Parameters
    ----------
    sym : Symbol
    ntrial : int
        Number of stage sizes to try.
    type_dict : dict of str to dtype, optional
        Dtypes of the inputs; float32 by default.
    **shapes : tuple
        Shapes of the data and labels; all other arguments get gradients.

    Returns
    -------
    Symbol
        A copy with ``force_mirroring`` set on every operator: True if it is recomputed.
    """
    training = _training_graph(sym, type_dict, shapes)
    flags = mirror.staged(training, target(), _marked(training), ntrial)
    return _with_marks(sym, flags)


def make_mirror_plan(sym, threshold, plan_info=None, type_dict=None, **shapes):
    """Split a symbol into stages of a given size.

    Parameters
    ----------
    sym : Symbol
    threshold : int
        Activation memory in megabytes at which a stage ends.
    plan_info : dict, optional
        Filled with ``max_size`` (megabytes of the largest stage) and ``save_size`` (megabytes of
        the boundaries).
    type_dict, **shapes
        See `search_plan`.

    Returns
    -------
    Symbol
        See `search_plan`.
    """
    training = _training_graph(sym, type_dict, shapes)
    kept = borders(training, threshold * _MEGABYTE, _marked(training))
    able = mirror.repeatable(training)
    flags = [flag and number not in kept for number, flag in enumerate(able)]
    if plan_info is not None:
        plan_info.update(_sizes(training, kept))
    return _with_marks(sym, flags)


def get_cost(sym, type_dict=None, **shapes):
    """Return the memory of a training step in MB, except arguments, gradients and outputs.

    Parameters
    ----------
    sym : Symbol
    type_dict, **shapes
        See `search_plan`.

    Returns
    -------
    int
    """
    training = _training_graph(sym, type_dict, shapes)
    machine = target()
    planned = mirror.run(training, machine)
    nothing = [False] * planned.forward
    calls = prepare_all(planned, machine)
    return mirror.planned_bytes(planned, nothing, calls, machine.settings) // _MEGABYTE


def _training_graph(sym, type_dict, shapes):
    """Graph of the forward and backward pass; forward nodes have the symbol's indices."""
    types = {name: code_of(dtype) for name, dtype in (type_dict or {}).items()}
    names = sym.list_arguments()
    unknown = [name for name in (*shapes, *types) if name not in names]
    if unknown:
        raise MXNetError(f"memonger: the symbol has no argument {', '.join(unknown)}")
    known = {
        name: Spec(shapes.get(name), types.get(name, CODES["float32"]))
        for name in sym.list_inputs()
    }
    graph = expand(infer(from_entries(sym._entries, train=True), known))
    number = {graph.nodes[n].name: n for n in graph.variables()}
    wanted = [number[name] for name in names if name not in shapes]
    return gradient(own_outputs(graph), wanted)


def _marked(graph):
    """The nodes with the attribute ``mirror_stage``, or None."""
    nodes = graph.nodes[: graph.forward]
    return {number for number, node in enumerate(nodes) if _STAGE in node.extra} or None


def _with_marks(sym, flags):
    marked = sym.__copy__()
    for node, flag in zip(topological(marked._entries), flags, strict=False):
        if node.op is not None:
            node.attrs[mirror.FORCE] = str(flag)
            node.changed()
    return marked


def _sizes(graph, kept):
    largest = stage = saved = 0
    for number, node in enumerate(graph.nodes[: graph.forward]):
        size = sum(spec.nbytes for spec in graph.specs[number]) if node.op is not None else 0
        stage += size
        largest = max(largest, stage)
        if number in kept:
            saved += size
            stage = 0
    return {"max_size": largest // _MEGABYTE, "save_size": saved // _MEGABYTE}
