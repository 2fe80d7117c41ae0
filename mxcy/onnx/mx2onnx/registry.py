"""Which operators have a counterpart in ONNX: the field `onnx` of their records."""

import pkgutil
from importlib import import_module

from mxcy.ops.core.record import ONLY_SYMBOLS, REGISTRY, find

__all__ = ["convert", "load", "operators"]


def convert(*names):
    """Decorator: a function is the field `onnx` of these records.

    Parameters
    ----------
    *names : str
        Operators, by their records' names.

    Returns
    -------
    callable
        Takes ``rule(a, G, *inputs)``: the attributes of a call, the `Builder`, and a `Value` for
        each input. It returns the `Value` of the result, or a list of those of all results.
        ``G.outs`` has the shapes and types of the results, ``G.opset`` the version to write.
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
    """Import the converters, which enter themselves into the records."""
    home = import_module("mxcy.onnx.mx2onnx.converters")
    for module in sorted(pkgutil.iter_modules(home.__path__), key=lambda m: m.name):
        import_module(f"{home.__name__}.{module.name}")


def operators():
    """The registered names and aliases of all operators that can be exported.

    Returns
    -------
    list of str
        Sorted; with ``null``, as MXNet calls variables.
    """
    load()
    names = {name for name, record in REGISTRY.items() if record.onnx is not None}
    names.update(name for name, record in ONLY_SYMBOLS.items() if record.onnx is not None)
    return sorted({*names, "null"})
