"""ONNX under MXNet 1.x's module path; see `mxcy.onnx`."""

from importlib import import_module

from mxcy._base.suggestions import no_attribute

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]

#: function -> its module, imported on first access
_LATER = {
    "export_model": "mxcy.onnx",
    "get_model_metadata": "mxcy.onnx.onnx2mx.import_model",
    "import_model": "mxcy.onnx.onnx2mx.import_model",
    "import_to_gluon": "mxcy.onnx.onnx2mx.import_to_gluon",
}
_MODULES = {"mx2onnx": "mxcy.onnx.mx2onnx", "onnx2mx": "mxcy.contrib.onnx.onnx2mx"}


def __getattr__(name):
    if name in _MODULES:
        module = import_module(_MODULES[name])
    elif name in _LATER:
        module = getattr(import_module(_LATER[name]), name)
    else:
        raise no_attribute(__name__, name)
    globals()[name] = module
    return module


def __dir__():
    return sorted({*globals(), *_LATER, *_MODULES})
