"""Kernels of operators and their parameters, for calls outside of the fronts."""

import functools
import struct

from mxcy._library import front
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import prepare
from mxcy.ops.core.record import find

__all__ = ["kernel_of"]


def kernel_of(name, options, *specs):
    """The kernel that an operator uses for some inputs.

    Parameters
    ----------
    name : str
    options : dict
        The operator's attributes.
    *specs : tuple
        Shape and dtype code of each input.

    Returns
    -------
    tuple of (str or None, bytes)
        Its name, if there is one, and its parameters.
    """
    op = find(name)
    call = _prepared(op, op.schema.intern(op.name, options), *specs)
    if call.kernel is None:
        return None, b""
    numbers, params = op.schema.dynamic_values(op.name, options), bytearray(call.params)
    for number, offset in call.patches:
        struct.pack_into("d", params, offset, numbers[number])
    return call.kernel, bytes(params)


@functools.lru_cache(maxsize=256)
def _prepared(op, attrs, *specs):
    return prepare(op, attrs, [Spec(*spec) for spec in specs], front)
