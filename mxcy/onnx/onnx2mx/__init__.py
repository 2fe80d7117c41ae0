"""ONNX files as symbols with parameters.

`importer` goes through a file's graph and asks `table`, filled by `families`, for an expression of
each node. `values` makes the symbol's nodes and computes what is constant; `tensors` and
`attributes` read the file's parts and believe nothing that they do not hold.
"""

from importlib import import_module

from mxcy._base.suggestions import no_attribute

__all__ = ["import_model", "import_onnx", "import_to_gluon"]


def __getattr__(name):
    if name not in __all__:
        raise no_attribute(__name__, name)
    return import_module(f"{__name__}.{name}")
