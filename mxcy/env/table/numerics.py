"""Numerics and algorithm selection."""

from mxcy.env.kinds import flag, integer
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_SAFE_ACCUMULATION", flag, True, "C", "mxcy.ops.reduce.float16_sum",
             "0: 2-norms, softmax, layer normalisation and the gradients of Embedding and take "
             "accumulate "
             "float16 in float16, as in MXNet 1.x; a signature called before "
             "keeps its kernel. Otherwise, and always for other types, sums are accumulated in a "
             "wider "
             "type.", test="env/test_numerics.py::test_safe_accumulation"),
    Variable("MXCY_NUMPY_TYPES", flag, False, "I", "mxcy._semantics.switches",
             "1: mx.np starts with NumPy's type rules, as in the array API standard, in "
             "the thread that imports mxcy; mx.npx.set_np(dtype=...) switches. docs/numpy.md.",
             test="env/test_numerics.py::test_numpy_types"),
    Variable("MXNET_ENFORCE_DETERMINISM", flag, False, "C", "mxcy.graph.target",
             "1: algorithms are not selected by trials (dense layers do not use Strassen's, "
             "for example), cuDNN plans with nondeterministic "
             "summation "
             "are excluded, and random operators use one set of streams, so that a program gives "
             "bit-identical results.",
             test="env/test_numerics.py::test_enforce_determinism"),
    Variable("MXNET_CUDNN_AUTOTUNE_DEFAULT", integer(0, 2), 1, "C", "mxcy.graph.target",
             "0: use the first suitable algorithm of a convolution; otherwise the fastest in a "
             "short trial, stored under MXNET_HOME, on CPUs as well. On GPUs 1 tries the first "
             "8 of cuDNN's plans whose workspace is within the operator's `workspace`, 2 all; its "
             "`cudnn_tune` takes precedence, unless this is set to 0.",
             test="env/test_numerics.py::test_choice_of_algorithms",
             under=("MXNET_ENFORCE_DETERMINISM",)),
    Variable("MXNET_CUDNN_ALLOW_WINOGRAD", flag, True, "C", "mxcy.graph.algorithm",
             "0: do not use Winograd's algorithm for convolutions, on CPUs and GPUs.",
             test="env/test_numerics.py::test_choice_of_algorithms"),
    Variable("MXNET_OPTIMIZER_AGGREGATION_SIZE", integer(1), 4, "C", "mxcy.optimizer.optimizer",
             "Number of weights that optimizers update per operator call, if there is such an "
             "operator: "
             "SGD, LARS, AdamW and AdaBelief at most 60, LAMB and LANS at most 45. Read when an "
             "optimizer is created; its argument aggregate_num takes precedence. Unless one of "
             "them is given, "
             "SGD, NAG, Adam and AdamW update all weights in one call, with identical results.",
             test="env/test_training.py::test_optimizer_aggregation_size"),
)
