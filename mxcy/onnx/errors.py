"""Exceptions of export and import."""

from mxcy._base.errors import MXNetError

__all__ = ["MissingConverterError", "UnsupportedError"]


class MissingConverterError(MXNetError, AttributeError):
    """Operators without a converter; the message names all of them and their nodes."""


class UnsupportedError(MXNetError, NotImplementedError):
    """An operator with these attributes, inputs or dtypes cannot be expressed in ONNX."""
