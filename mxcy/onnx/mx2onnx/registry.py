"""Registration of converters in the field `onnx` of operators' records."""

import pkgutil
from importlib import import_module

from mxcy.ops.core.record import ONLY_SYMBOLS, REGISTRY, find

__all__ = ["convert", "load", "operators"]


def convert(*names):
    """Decorator that sets the field `onnx` of records to a function.

    Parameters
    ----------
    *names : str
        Names of operator records.

    Returns
    -------
    callable
        Decorator of ``rule(a, G, *inputs)``, which is called with the attributes, the `Builder`,
        and a `Value` per input, and returns the `Value` of the result or a list of several.
        ``G.outs`` has the expected shapes and dtypes, ``G.opset`` the version to write.
    """

    def enter(rule):
        for name in names:
            record = ONLY_SYMBOLS.get(name) or find(name)
            if record.onnx is not None and record.onnx is not rule:
                raise ValueError(f"operator {name} has two converters")
            record.onnx = rule
        return rule

    return enter


def load():
    """Import the converters, which register themselves."""
    home = import_module("mxcy.onnx.mx2onnx.converters")
    for module in sorted(pkgutil.iter_modules(home.__path__), key=lambda m: m.name):
        import_module(f"{home.__name__}.{module.name}")


def operators():
    """Return the names and aliases of all operators that can be exported.

    Returns
    -------
    list of str
        Sorted names, including ``null``, MXNet's name of variables.
    """
    load()
    names = {name for name, record in REGISTRY.items() if record.onnx is not None}
    names.update(name for name, record in ONLY_SYMBOLS.items() if record.onnx is not None)
    return sorted({*names, "null"})
