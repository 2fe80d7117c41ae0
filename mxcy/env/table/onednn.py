"""oneDNN."""

from mxcy.env.kinds import flag, integer, path
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_ONEDNN_ENABLED", flag, True, "F", "mxcy.onednn",
             "Use oneDNN when it is installed.", aliases=("MXNET_MKLDNN_ENABLED",)),
    Variable("MXCY_ONEDNN_LIBRARY", path, None, "F", "mxcy.onednn",
             "The oneDNN library to open, instead of searching for one.",
             under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_CACHE_NUM", integer(-1), -1, "F", "mxcy.onednn",
             "The most oneDNN primitives kept for reuse, the least recently used go first; 0 keeps "
             "none, -1 as many as 256 MB hold.", aliases=("MXNET_MKLDNN_CACHE_NUM",),
             under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", flag, False, "C", "mxcy.graph.algorithm",
             "1: the weights of dense layers are not packed but used as they lie.",
             aliases=("MXNET_MKLDNN_FORCE_FC_AB_FORMAT",)),
)  # fmt: skip
