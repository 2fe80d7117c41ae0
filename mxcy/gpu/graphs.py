"""CUDA graphs: the launches of a plan's segment, captured once and replayed together."""

from mxcy import env
from mxcy.gpu import driver

__all__ = ["Graphs", "recorder", "stats"]

_ALL = 0xFFFFFFFF >> 1  # flags of cuGraphDebugDotPrint


class Graphs:
    """The graphs of a plan.

    Parameters
    ----------
    device : int
    is_training : bool
    labels : list of str
        Names of the plan's steps.

    Attributes
    ----------
    address : int
        Of the native object.
    """

    def __init__(self, device, is_training, labels):
        flags = env.get("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS")
        self._close = driver.close_graphs
        self.address = driver.graphs(
            device,
            is_training,
            env.get("MXNET_CUDA_GRAPHS_VERBOSE"),
            env.get("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES"),
            env.get("MXNET_CUDA_GRAPHS_DBG_FILE"),
            _ALL if flags is None else flags,
            labels,
        )

    def __del__(self):
        if getattr(self, "address", None):
            self._close(self.address)


def recorder(plan, device, is_training):
    """Return what runs a plan as CUDA graphs, None unless MXNET_ENABLE_CUDA_GRAPHS is set.

    Parameters
    ----------
    plan : mxcy.graph.planning.plan.Plan
    device : int
    is_training : bool

    Returns
    -------
    Graphs or None
    """
    if not env.get("MXNET_ENABLE_CUDA_GRAPHS"):
        return None
    return Graphs(device, is_training, [f"{s.call.op.name} ({s.name})" for s in plan.steps])


def stats():
    """Count the graphs captured in this process, and their replays.

    Returns
    -------
    dict
        ``captured`` and ``replayed``.
    """
    captured, replayed = driver.graph_counts()
    return {"captured": captured, "replayed": replayed}
