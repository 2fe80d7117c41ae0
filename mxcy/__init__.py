"""mxcy: MXNet's Python interface on today's Python and NumPy 2."""

from importlib import import_module

from mxcy import autograd, ndarray, random
from mxcy import ndarray as nd
from mxcy.attribute import AttrScope
from mxcy.base import MXNetError
from mxcy.context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from mxcy.libinfo import __version__

__all__ = [
    "AttrScope",
    "Context",
    "MXNetError",
    "__version__",
    "autograd",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gpu",
    "nd",
    "ndarray",
    "num_gpus",
    "random",
]

#: name -> module that is imported when the name is first asked for
_LATER = {
    "attribute": "mxcy.attribute",
    "gluon": "mxcy.gluon",
    "init": "mxcy.initializer",
    "initializer": "mxcy.initializer",
    "lr_scheduler": "mxcy.lr_scheduler",
    "metric": "mxcy.metric",
    "name": "mxcy.name",
    "opt": "mxcy.optimizer",
    "optimizer": "mxcy.optimizer",
    "registry": "mxcy.registry",
}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name])
    globals()[name] = module
    return module


def __dir__():
    return sorted({*globals(), *_LATER})
