"""oneDNN."""

from mxcy.env.kinds import anything, flag, integer, path
from mxcy.env.variable import Condition, Variable

#: why variables of oneDNN do nothing where it is not in use; `mxcy._library.onednn` knows
MISSING = Condition()

ROWS = (
    Variable("MXNET_ONEDNN_ENABLED", flag, True, "F", "mxcy._library.onednn",
             "Use oneDNN when it is installed.", aliases=("MXNET_MKLDNN_ENABLED",),
             test="env/test_onednn.py::test_onednn_enabled"),
    Variable("MXCY_ONEDNN_LIBRARY", path, None, "F", "mxcy._library.onednn",
             "The oneDNN library to open, instead of searching for one.",
             test="env/test_onednn.py::test_onednn_library", under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_CACHE_NUM", integer(-1), -1, "F", "mxcy._library.onednn",
             "The most oneDNN primitives kept for reuse, the least recently used go first; 0 keeps "
             "none, -1 as many as 256 MB hold.", aliases=("MXNET_MKLDNN_CACHE_NUM",),
             test="env/test_onednn.py::test_onednn_cache_num", inert=MISSING,
             under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", flag, False, "C", "mxcy.graph.algorithm",
             "1: the weights of dense layers are not packed but used as they lie.",
             aliases=("MXNET_MKLDNN_FORCE_FC_AB_FORMAT",), inert=MISSING,
             test="env/test_onednn.py::test_force_fc_ab_format"),
    Variable("MXNET_ONEDNN_DEBUG", flag, False, "F", "mxcy._library.onednn",
             "1: results of oneDNN are compared with those of own kernels, where there are such; a "
             "difference is an error.", aliases=("MXNET_MKLDNN_DEBUG",), inert=MISSING,
             test="env/test_onednn.py::test_onednn_debug"),
    Variable("ONEDNN_PRIMITIVE_CACHE_CAPACITY", integer(0), 1024, "F", "oneDNN",
             "Primitives that oneDNN itself keeps.",
             inert="mxcy keeps them, as MXNET_ONEDNN_CACHE_NUM says"),
    Variable("ONEDNN_VERBOSE", anything, "", "F", "oneDNN",
             "1: oneDNN prints each primitive that it runs; 2: also what it makes.",
             aliases=("DNNL_VERBOSE",), inert=MISSING, silent=True,
             test="env/test_onednn.py::test_onednn_enabled"),
    Variable("MXNET_USE_ONEDNN_RNN", flag, True, "C", "mxcy.ops.recurrent.rnn",
             "Recurrent layers in prediction are oneDNN's where that is faster; 0: always own "
             "kernels.", aliases=("MXNET_USE_MKLDNN_RNN",), inert=MISSING,
             test="env/test_onednn.py::test_use_onednn_rnn"),
    Variable("MXNET_RNN_USE_WEIGHT_CACHE", flag, False, "C", "mxcy.graph.passes.recurrent",
             "1: the parameters of recurrent layers are joined once in prediction, and changing "
             "them has no effect afterwards; otherwise they are joined again when one was written.",
             test="env/test_execution.py::test_rnn_use_weight_cache"),
)
