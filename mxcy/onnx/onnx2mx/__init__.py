"""Import of ONNX files as symbols with parameters.

`importer` walks a file's graph and looks up converters in `table`, which `families` fill.
`expressions` creates the symbol's nodes and folds constants; `tensors` and `attributes` read and
validate the parts of the file.
"""

from importlib import import_module

from mxcy._base.suggestions import no_attribute

__all__ = ["import_model", "import_onnx", "import_to_gluon"]


def __getattr__(name):
    if name not in __all__:
        raise no_attribute(__name__, name)
    return import_module(f"{__name__}.{name}")
