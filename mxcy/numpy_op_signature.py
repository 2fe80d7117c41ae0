"""Look-up of the public function of an operator, as in MXNet 2."""

from mxcy.numpy import register
from mxcy.ops.core.homes import numpy_homes

__all__ = []


def _get_builtin_op(op_name):
    """Return the function of `mx.np` or `mx.npx` for a name such as ``_npi_add``, or None."""
    for (namespace, name), (record, _) in numpy_homes().items():
        if record.name == op_name and namespace != "_internal":
            return register.function(namespace, name)
    return None
