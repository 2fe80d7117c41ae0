"""All kernels of devices, which their modules register when they are imported."""

from mxcy.gpu import table
from mxcy.gpu.activation import rectifiers  # noqa: F401
from mxcy.gpu.attention import attention  # noqa: F401
from mxcy.gpu.detection import boxes, multibox, regions  # noqa: F401
from mxcy.gpu.elementwise.pointwise import line_maker
from mxcy.gpu.image import colours, crops, images  # noqa: F401
from mxcy.gpu.indexing import coordinates, indexing, ordering, sequences  # noqa: F401
from mxcy.gpu.loss import alignments, losses  # noqa: F401
from mxcy.gpu.matrix import products  # noqa: F401
from mxcy.gpu.norm import norms  # noqa: F401
from mxcy.gpu.optimizer import layerwise, optimizers  # noqa: F401
from mxcy.gpu.pooling import windows  # noqa: F401
from mxcy.gpu.random import choices, random  # noqa: F401
from mxcy.gpu.recurrent import recurrent  # noqa: F401
from mxcy.gpu.reduce import lines, many, scans  # noqa: F401
from mxcy.gpu.shape import copying, margins  # noqa: F401

__all__ = ["maker_of"]


def maker_of(name):
    """Return the function that makes a kernel's launches, and whether it may run in place; or None.

    Parameters
    ----------
    name : str
    """
    line = line_maker(name)
    return table.maker_of(name) or (line and (line, False))
