"""Whether a CPU gains anything by bfloat16."""

import logging
from functools import cache

from mxcy._base.dtypes import BFLOAT16, CODES
from mxcy._execute.planned import target
from mxcy.graph import algorithm
from mxcy.ops.core.infer import Spec

__all__ = ["multiplies_bfloat16", "warn_once"]

_SIDE = 64  # of the layer that is requested; smaller ones are left to other kernels


def multiplies_bfloat16():
    """Whether a layer on arrays of bfloat16 has a kernel that uses products of that type.

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
    """Tell, the first time, where a target type is of no use.

    Parameters
    ----------
    name : str
        The target type.
    """
    if name == "bfloat16" and not multiplies_bfloat16():
        logging.warning(
            "AMP: this CPU, or its oneDNN, has no products of bfloat16: results are right, but "
            "nothing is gained by them"
        )
