"""`mx.error`: types of errors, found by their names."""

from mxcy.base import MXNetError

__all__ = ["InternalError", "MXNetError", "error_types", "register"]

#: name -> type
error_types = {}


def register(func_name=None, cls=None):
    """Enter a type of errors; a class decorator, with or without a name.

    Parameters
    ----------
    func_name : str or type
        The name, or the class itself.
    cls : type, optional
        The class.

    Returns
    -------
    type, or a decorator when only a name is given
    """
    if isinstance(func_name, type):
        func_name, cls = func_name.__name__, func_name

    def enter(klass):
        error_types[func_name or klass.__name__] = klass
        return klass

    return enter if cls is None else enter(cls)


@register
class InternalError(MXNetError):
    """Something that cannot be the program's fault.

    Parameters
    ----------
    msg : str
    """

    def __init__(self, msg):
        hint = "" if "MXNet hint:" in msg else "\nMXNet hint: this is a defect; please report it."
        super().__init__(msg + hint)


for _builtin in (ValueError, TypeError, AttributeError, IndexError, NotImplementedError):
    register(_builtin)
