"""C functions of MXNet's library that `mx.base._LIB` offers, written in Python.

They take ctypes' values and pointers as the C functions do, and return 0; errors are exceptions.
"""

from importlib import import_module
from typing import Any

from mxcy._base.errors import MXNetError

__all__ = ["CFunctions", "pointee"]

#: name of a C function -> the module that implements it
_HOMES = {
    "MXListAllOpNames": "mxcy.operator.c_names",
    **dict.fromkeys(
        (
            "MXBuildSubgraphByOpNames",
            "MXSetSubgraphPropertyOpNames",
            "MXSetSubgraphPropertyOpNamesV2",
            "MXRemoveSubgraphPropertyOpNames",
            "MXRemoveSubgraphPropertyOpNamesV2",
        ),
        "mxcy.symbol.c_subgraphs",
    ),
}


class _MissingFunction(MXNetError, AttributeError):
    """A function that is not offered was accessed; also an AttributeError, for `hasattr`."""


def pointee(pointer: Any) -> Any:
    """Return the ctypes object to which ``ctypes.byref`` or ``ctypes.pointer`` points."""
    return pointer._obj if hasattr(pointer, "_obj") else pointer.contents


class CFunctions:
    """In place of MXNet's C library: its functions without a Python counterpart in MXNet."""

    def __getattr__(self, name: str) -> Any:
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        raise _MissingFunction(
            f"_LIB.{name}: mxcy does not implement MXNet's C API except {', '.join(_HOMES)}; "
            "use the Python interface"
        )

    def __dir__(self) -> list[str]:
        return sorted(_HOMES)
