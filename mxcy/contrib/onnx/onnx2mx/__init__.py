"""Import from ONNX under MXNet 1.x's module path; see `mxcy.onnx.onnx2mx`.

Needs the package `onnx`; `mxcy.contrib.onnx` itself does not.
"""

from importlib import import_module

from mxcy._base.suggestions import no_attribute

__all__ = ["import_model", "import_onnx", "import_to_gluon"]


def __getattr__(name):
    if name not in __all__:
        raise no_attribute(__name__, name)
    return import_module(f"{__name__}.{name}")
