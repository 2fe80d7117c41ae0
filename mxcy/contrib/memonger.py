"""Train deep networks in less memory: keep only the borders of stages, compute the rest again.

With n equal layers in about sqrt(n) stages the memory for forward values grows like sqrt(n), for
one more forward pass. The plans mark a symbol's operators with the attribute ``force_mirroring``,
which every executor obeys; operators with the attribute ``mirror_stage`` are where stages may end,
if there are any.
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
    """Search for the stages with which training needs the least memory.

    Parameters
    ----------
    sym : Symbol
    ntrial : int
        How many sizes of stages are tried.
    type_dict : dict of str to dtype, optional
        Element types of the inputs; float32 otherwise.
    **shapes : tuple
        The shapes of the data and labels; gradients are taken of all other arguments.

    Returns
    -------
    Symbol
        A copy with ``force_mirroring`` set on every operator: True where it is computed again.
    """
    training = _training_graph(sym, type_dict, shapes)
    flags = mirror.staged(training, target(), _marked(training), ntrial)
    return _with_marks(sym, flags)


def make_mirror_plan(sym, threshold, plan_info=None, type_dict=None, **shapes):
    """Cut a symbol into stages of a given size.

    Parameters
    ----------
    sym : Symbol
    threshold : int
        Megabytes of forward values from which on a stage ends.
    plan_info : dict, optional
        Takes ``max_size`` (megabytes of the largest stage) and ``save_size`` (megabytes of the
        borders).
    type_dict, **shapes
        As in `search_plan`.

    Returns
    -------
    Symbol
        As in `search_plan`.
    """
    training = _training_graph(sym, type_dict, shapes)
    kept = borders(training, threshold * _MEGABYTE, _marked(training))
    able = mirror.repeatable(training)
    flags = [flag and number not in kept for number, flag in enumerate(able)]
    if plan_info is not None:
        plan_info.update(_sizes(training, kept))
    return _with_marks(sym, flags)


def get_cost(sym, type_dict=None, **shapes):
    """The megabytes that one training step needs beside arguments, gradients and outputs.

    Parameters
    ----------
    sym : Symbol
    type_dict, **shapes
        As in `search_plan`.

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
    """Forward and backward pass; the forward nodes are numbered like the symbol's."""
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
    """The nodes with the attribute ``mirror_stage``; None when there are none."""
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
