"""`mx.cuda.nvtx`: named ranges on the time line of NVIDIA's tools.

Without GPUs they are refused, as by every MXNet that was built for CPUs alone. Tasks and frames of
`mxcy.profiler` mark a program's own work on its time line.
"""

from mxcy.base import MXNetError
from mxcy.context import num_gpus
from mxcy.gpu.views import cupy

__all__ = [
    "BLUE",
    "BLUE1",
    "CYAN",
    "GREEN",
    "GREEN1",
    "MAGENTA",
    "ORANGE",
    "RED",
    "RED1",
    "VIOLET",
    "YELLOW",
    "range",
    "range_pop",
    "range_push",
]

RED, GREEN, BLUE = 0xFF0000, 0x00FF00, 0x0000FF
YELLOW, ORANGE, RED1, MAGENTA = 0xB58900, 0xCB4B16, 0xDC322F, 0xD33682
_OPAQUE = 0xFF000000
VIOLET, BLUE1, CYAN, GREEN1 = 0x6C71C4, 0x268BD2, 0x2AA198, 0x859900


def range_push(name, color=ORANGE):
    """Begin a named range.

    Parameters
    ----------
    name : str
    color : int
        Red, green and blue, eight bits each.

    Raises
    ------
    MXNetError
        Without a GPU.
    """
    if not num_gpus():
        raise MXNetError(f"nvtx.range_push: there is no GPU; no range {name!r}, see mx.profiler")
    cupy().cuda.nvtx.RangePushC(name, _OPAQUE | color)


def range_pop():
    """End the range that was begun last.

    Raises
    ------
    MXNetError
        Without a GPU.
    """
    if not num_gpus():
        raise MXNetError("nvtx.range_pop: there is no GPU; there are no ranges, see mx.profiler")
    cupy().cuda.nvtx.RangePop()


class range:
    """A named range around a with statement; entering it raises as `range_push` does.

    Parameters
    ----------
    name : str
    color : int
        Red, green and blue, eight bits each.
    """

    def __init__(self, name, color=ORANGE):
        self.name, self.color = name, color

    def __enter__(self):
        range_push(self.name, self.color)

    def __exit__(self, *error):
        range_pop()
