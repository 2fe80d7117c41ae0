"""Numerics and choice of algorithms."""

from mxcy.env.kinds import flag, integer
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_SAFE_ACCUMULATION", flag, True, "I", "mxcy.env.table.numerics",
             "Accumulate in a wider type in softmax, norms and the like.",
             inert="kernels always accumulate in a wider type"),
    Variable("MXNET_ENFORCE_DETERMINISM", flag, False, "C", "mxcy.graph.target",
             "1: algorithms are not chosen by trials."),
    Variable("MXNET_CUDNN_AUTOTUNE_DEFAULT", integer(0, 2), 1, "C", "mxcy.graph.target",
             "0: take the first fitting algorithm of a convolution; otherwise the fastest in a "
             "short trial, remembered under MXNET_HOME. On CPU as well."),
    Variable("MXNET_CUDNN_ALLOW_WINOGRAD", flag, True, "C", "mxcy.graph.algorithm",
             "0: no convolution is computed by Winograd's algorithm. On CPU as well."),
)  # fmt: skip
