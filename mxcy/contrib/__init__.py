"""`mx.contrib`: contributed features."""

from importlib import import_module

from mxcy._base.listing import listing
from mxcy._base.suggestions import no_attribute
from mxcy.contrib import memonger

__all__ = ["memonger"]

#: name -> module imported on first access
_LATER = {
    "amp": "mxcy.contrib.amp",
    "autograd": "mxcy.contrib.autograd",
    "io": "mxcy.contrib.io",
    "nd": "mxcy.contrib.ndarray",
    "ndarray": "mxcy.contrib.ndarray",
    "onnx": "mxcy.contrib.onnx",
    "quant": "mxcy.contrib.quantization",
    "quantization": "mxcy.contrib.quantization",
    "svrg_optimization": "mxcy.contrib.svrg_optimization",
    "sym": "mxcy.contrib.symbol",
    "symbol": "mxcy.contrib.symbol",
    "tensorboard": "mxcy.contrib.tensorboard",
    "text": "mxcy.contrib.text",
}


def __getattr__(name):
    if name not in _LATER:
        raise no_attribute(__name__, name)
    module = import_module(_LATER[name])
    globals()[name] = module
    return module


__dir__ = listing(__name__, _LATER)
