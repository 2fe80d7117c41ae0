"""`mx.error`: exception types, registered by name."""

from mxcy._library.c_interface import error_types, register_error
from mxcy.base import MXNetError

__all__ = ["InternalError", "MXNetError", "error_types", "register", "register_error"]

register = register_error


@register
class InternalError(MXNetError):
    """An internal error of mxcy.

    Parameters
    ----------
    msg : str
    """

    def __init__(self, msg):
        hint = "" if "MXNet hint:" in msg else "\nMXNet hint: this is a defect; please report it."
        super().__init__(msg + hint)


for _builtin in (ValueError, TypeError, AttributeError, IndexError, NotImplementedError):
    register(_builtin)
