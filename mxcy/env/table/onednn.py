"""oneDNN."""

from mxcy.env.kinds import anything, flag, integer, path
from mxcy.env.variable import Condition, Variable

#: why oneDNN's variables have no effect, set by `mxcy._library.onednn`
MISSING = Condition()

ROWS = (
    Variable("MXNET_ONEDNN_ENABLED", flag, True, "F", "mxcy._library.onednn",
             "Use oneDNN if it is installed.", aliases=("MXNET_MKLDNN_ENABLED",),
             test="env/test_onednn.py::test_onednn_enabled"),
    Variable("MXCY_ONEDNN_LIBRARY", path, None, "F", "mxcy._library.onednn",
             "The oneDNN library to load, instead of searching for one.",
             test="env/test_onednn.py::test_onednn_library", under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_CACHE_NUM", integer(-1), -1, "F", "mxcy._library.onednn",
             "Maximum number of cached oneDNN primitives, with LRU eviction; 0: "
             "none, -1: as many as fit 256 MB.", aliases=("MXNET_MKLDNN_CACHE_NUM",),
             test="env/test_onednn.py::test_onednn_cache_num", inert=MISSING,
             under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", flag, False, "C", "mxcy.graph.algorithm",
             "1: do not pack the weights of dense layers.",
             aliases=("MXNET_MKLDNN_FORCE_FC_AB_FORMAT",), inert=MISSING,
             test="env/test_onednn.py::test_force_fc_ab_format"),
    Variable("MXNET_ONEDNN_DEBUG", flag, False, "F", "mxcy._library.onednn",
             "1: compare results of oneDNN with those of mxcy's kernels, if there are any; a "
             "difference is an error.", aliases=("MXNET_MKLDNN_DEBUG",), inert=MISSING,
             test="env/test_onednn.py::test_onednn_debug"),
    Variable("ONEDNN_PRIMITIVE_CACHE_CAPACITY", integer(0), 1024, "F", "oneDNN",
             "Capacity of oneDNN's own primitive cache.",
             inert="mxcy caches primitives itself, see MXNET_ONEDNN_CACHE_NUM"),
    Variable("ONEDNN_VERBOSE", anything, "", "F", "oneDNN",
             "1: oneDNN prints each executed primitive; 2: also each created one.",
             aliases=("DNNL_VERBOSE",), inert=MISSING, silent=True,
             test="env/test_onednn.py::test_onednn_enabled"),
    Variable("MXNET_USE_ONEDNN_RNN", flag, True, "C", "mxcy.ops.recurrent.rnn",
             "Use oneDNN for recurrent layers in prediction if faster; 0: always use mxcy's "
             "kernels.", aliases=("MXNET_USE_MKLDNN_RNN",), inert=MISSING,
             test="env/test_onednn.py::test_use_onednn_rnn"),
    Variable("MXNET_RNN_USE_WEIGHT_CACHE", flag, False, "C", "mxcy.graph.passes.recurrent",
             "1: concatenate the parameters of recurrent layers only once in prediction; changing "
             "them has no effect afterwards. Otherwise this is repeated after one was written.",
             test="env/test_execution.py::test_rnn_use_weight_cache"),
)
