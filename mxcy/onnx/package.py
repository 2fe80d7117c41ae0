"""The optional package `onnx`."""

from importlib import import_module

__all__ = ["onnx_package"]


def onnx_package():
    """The module `onnx`.

    Raises
    ------
    ImportError
        If it is not installed; the message tells how to install it.
    """
    try:
        return import_module("onnx")
    except ImportError as error:
        raise ImportError(
            "Onnx and protobuf need to be installed: pip install 'mxcy[onnx]' (or onnx>=1.16)"
        ) from error
