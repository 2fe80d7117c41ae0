"""oneDNN."""

from mxcy.env.kinds import anything, flag, integer, path
from mxcy.env.variable import Variable


def _missing() -> str:
    """Why variables of oneDNN do nothing where it is not installed."""
    from mxcy import onednn  # which reads variables of this table

    return "" if onednn.find_libraries() else "oneDNN is not in use"


ROWS = (
    Variable("MXNET_ONEDNN_ENABLED", flag, True, "F", "mxcy.onednn",
             "Use oneDNN when it is installed.", aliases=("MXNET_MKLDNN_ENABLED",),
             test="env/test_onednn.py::test_onednn_enabled"),
    Variable("MXCY_ONEDNN_LIBRARY", path, None, "F", "mxcy.onednn",
             "The oneDNN library to open, instead of searching for one.",
             test="env/test_onednn.py::test_onednn_library", under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_CACHE_NUM", integer(-1), -1, "F", "mxcy.onednn",
             "The most oneDNN primitives kept for reuse, the least recently used go first; 0 keeps "
             "none, -1 as many as 256 MB hold.", aliases=("MXNET_MKLDNN_CACHE_NUM",),
             test="env/test_onednn.py::test_onednn_cache_num", inert=_missing,
             under=("MXNET_ONEDNN_ENABLED",)),
    Variable("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", flag, False, "C", "mxcy.graph.algorithm",
             "1: the weights of dense layers are not packed but used as they lie.",
             aliases=("MXNET_MKLDNN_FORCE_FC_AB_FORMAT",), inert=_missing,
             test="env/test_onednn.py::test_force_fc_ab_format"),
    Variable("MXNET_ONEDNN_DEBUG", flag, False, "F", "mxcy.onednn",
             "1: results of oneDNN are compared with those of own kernels, where there are such; a "
             "difference is an error.", aliases=("MXNET_MKLDNN_DEBUG",), inert=_missing,
             test="env/test_onednn.py::test_onednn_debug"),
    Variable("ONEDNN_PRIMITIVE_CACHE_CAPACITY", integer(0), 1024, "F", "oneDNN",
             "Primitives that oneDNN itself keeps.",
             inert="mxcy keeps them, as MXNET_ONEDNN_CACHE_NUM says"),
    Variable("ONEDNN_VERBOSE", anything, "", "F", "oneDNN",
             "1: oneDNN prints each primitive that it runs; 2: also what it makes.",
             aliases=("DNNL_VERBOSE",), inert=_missing, silent=True,
             test="env/test_onednn.py::test_onednn_enabled"),
    Variable("MXNET_USE_ONEDNN_RNN", flag, True, "C", "mxcy.ops.rnn",
             "Recurrent layers in prediction are oneDNN's where that is faster; 0: always own "
             "kernels.", aliases=("MXNET_USE_MKLDNN_RNN",), inert=_missing,
             test="env/test_onednn.py::test_use_onednn_rnn"),
    Variable("MXNET_RNN_USE_WEIGHT_CACHE", flag, False, "C", "mxcy.graph.passes.recurrent",
             "1: the parameters of recurrent layers are joined once in prediction, and changing "
             "them has no effect afterwards; otherwise they are joined again when one was written.",
             test="env/test_execution.py::test_rnn_use_weight_cache"),
)  # fmt: skip
