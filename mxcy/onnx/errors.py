"""What export and import raise when they cannot."""

from mxcy._base.errors import MXNetError

__all__ = ["MissingConverterError", "UnsupportedError"]


class MissingConverterError(MXNetError, AttributeError):
    """Operators have no counterpart among ONNX'; the message names all of a graph and the nodes."""


class UnsupportedError(MXNetError, NotImplementedError):
    """An operator with these attributes, inputs or types has no counterpart."""
