"""CUDA graphs: the launches of a plan's segment, captured once and repeated as one."""

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
        What the plan's steps are called.

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
    """What runs a plan's steps as CUDA graphs, or None where MXNET_ENABLE_CUDA_GRAPHS is not set.

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
    """How many graphs this process has captured, and how often one was launched again.

    Returns
    -------
    dict
        ``captured`` and ``replayed``.
    """
    captured, replayed = driver.graph_counts()
    return {"captured": captured, "replayed": replayed}
