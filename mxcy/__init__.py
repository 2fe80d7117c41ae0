"""mxcy: MXNet's Python interface on today's Python and NumPy 2."""

from mxcy import ndarray, random
from mxcy import ndarray as nd
from mxcy.context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from mxcy.libinfo import __version__
