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
    general = kernels[-1]

    def refuse(a, ins, outs):
        if ins[data].dtype != _FLOAT16 or env.get("MXNET_SAFE_ACCUMULATION"):
            return "accumulation is in a wider dtype"
        return general.when(a, ins, outs) if general.when else None

    def name(a, ins, outs):
        own = general.name(a, ins, outs) if callable(general.name) else general.name
        return f"{own}_narrow"

    one_word = native(
        name,
        general.struct,
        general.params,
        refuse,
        general.workspace,
        general.work,
        general.inplace,
        general.select,
        mixed=general.mixed,
    )
    return (one_word, *kernels)
