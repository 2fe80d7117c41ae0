"""float16 accumulation: in float32 or wider, in float16 with MXNET_SAFE_ACCUMULATION=0."""

from mxcy import env
from mxcy.ops.core.record import native

__all__ = ["narrow_first"]

_FLOAT16 = 2


def narrow_first(*kernels, data=0):
    """Prepend the last kernel's counterpart that rounds every partial sum to float16.

    Parameters
    ----------
    *kernels : Native
        Kernels of a record; the counterpart is ``<name>_narrow`` with the same parameters.
    data : int
        Index of the input to sum.

    Returns
    -------
    tuple of Native
    """
    wide = kernels[-1]

    def refuse(a, ins, outs):
        if ins[data].dtype != _FLOAT16 or env.get("MXNET_SAFE_ACCUMULATION"):
            return "accumulation is in a wider dtype"
        return wide.when(a, ins, outs) if wide.when else None

    def name(a, ins, outs):
        own = wide.name(a, ins, outs) if callable(wide.name) else wide.name
        return f"{own}_narrow"

    narrow = native(
        name,
        wide.struct,
        wide.params,
        refuse,
        wide.workspace,
        wide.work,
        wide.inplace,
        wide.select,
        mixed=wide.mixed,
    )
    return (narrow, *kernels)
