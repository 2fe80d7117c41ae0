"""The public function behind an operator's name, as programs written for MXNet 2 ask it."""

from mxcy.numpy import register
from mxcy.ops.core.homes import numpy_homes

__all__ = []


def _get_builtin_op(op_name):
    """The function of `mx.np` or `mx.npx` for a name such as ``_npi_add``, None without one."""
    for (namespace, name), (record, _) in numpy_homes().items():
        if record.name == op_name and namespace != "_internal":
            return register.function(namespace, name)
    return None
