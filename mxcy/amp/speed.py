"""Detection of hardware support for bfloat16."""

import logging
from functools import cache

from mxcy._base.dtypes import BFLOAT16, CODES
from mxcy._execute.planned import target
from mxcy.graph import algorithm
from mxcy.ops.core.infer import Spec

__all__ = ["multiplies_bfloat16", "warn_once"]

_SIDE = 64  # extent of the probed layer; smaller ones use other kernels


def multiplies_bfloat16():
    """Return whether the kernel of a bfloat16 layer uses bfloat16 multiplications.

    Returns
    -------
    bool
    """
    kinds = BFLOAT16, CODES["float32"]
    specs = [Spec((_SIDE, _SIDE), kind) for kind in kinds]
    attrs = {"num_hidden": _SIDE, "no_bias": True}
    return algorithm.choose_dense(target(), attrs, specs) is not None


@cache
def warn_once(name):
    """Warn, once, if a target dtype brings no speed-up.

    Parameters
    ----------
    name : str
        The target dtype.
    """
    if name == "bfloat16" and not multiplies_bfloat16():
        logging.warning(
            "AMP: this CPU, or its oneDNN, has no products of bfloat16: results are right, but "
            "nothing is gained by them"
        )
