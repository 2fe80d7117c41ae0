"""Export to and import from ONNX.

The package `onnx` is optional (``pip install 'mxcy[onnx]'``), and imported when first needed.
"""

from importlib import import_module

from mxcy._base.listing import listing
from mxcy._base.suggestions import no_attribute

__all__ = [
    "export_model",
    "get_model_metadata",
    "get_operator_support",
    "import_model",
    "import_to_gluon",
]

#: name -> its module (or the module itself), imported on first access
_LATER = {
    "export_model": "mxcy.onnx.mx2onnx",
    "get_model_metadata": "mxcy.onnx.onnx2mx.import_model",
    "get_operator_support": "mxcy.onnx.mx2onnx",
    "import_model": "mxcy.onnx.onnx2mx.import_model",
    "import_to_gluon": "mxcy.onnx.onnx2mx.import_to_gluon",
    "mx2onnx": "mxcy.onnx.mx2onnx",
}


def __getattr__(name):
    if name not in _LATER:
        raise no_attribute(__name__, name)
    value = import_module(_LATER[name])
    if name != "mx2onnx":
        value = getattr(value, name)
    globals()[name] = value
    return value


__dir__ = listing(__name__, _LATER)
