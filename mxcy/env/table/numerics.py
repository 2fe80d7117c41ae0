"""Numerics and choice of algorithms."""

from mxcy.env.kinds import flag, integer
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_SAFE_ACCUMULATION", flag, True, "C", "mxcy.ops.reduce.float16_sum",
             "0: 2-norms, softmax, layer normalisation and the gradients of Embedding and take add "
             "float16 numbers up in float16, as MXNet 1.x does; a signature that was called before "
             "keeps its kernel. Otherwise, and always for other types, sums are made in a wider "
             "type.", test="env/test_numerics.py::test_safe_accumulation"),
    Variable("MXCY_NUMPY_TYPES", flag, False, "I", "mxcy._semantics.switches",
             "1: mx.np starts with NumPy's element types, as the array API standard has them, in "
             "the thread that imports mxcy; mx.npx.set_np(dtype=...) switches. docs/numpy.md.",
             test="env/test_numerics.py::test_numpy_types"),
    Variable("MXNET_ENFORCE_DETERMINISM", flag, False, "C", "mxcy.graph.target",
             "1: algorithms are not chosen by trials, on GPUs none of cuDNN's that add up in any "
             "order, and random operators use one set of streams, so that the same program gives "
             "the same bits again.",
             test="env/test_numerics.py::test_enforce_determinism"),
    Variable("MXNET_CUDNN_AUTOTUNE_DEFAULT", integer(0, 2), 1, "C", "mxcy.graph.target",
             "0: take the first fitting algorithm of a convolution; otherwise the fastest in a "
             "short trial, remembered under MXNET_HOME. On CPU as well. On GPUs 1 tries the first "
             "8 of cuDNN's plans whose workspace is within the operator's `workspace`, 2 all; its "
             "`cudnn_tune` wins, unless this is set to 0.",
             test="env/test_numerics.py::test_choice_of_algorithms",
             under=("MXNET_ENFORCE_DETERMINISM",)),
    Variable("MXNET_CUDNN_ALLOW_WINOGRAD", flag, True, "C", "mxcy.graph.algorithm",
             "0: no convolution is computed by Winograd's algorithm, on CPUs and GPUs.",
             test="env/test_numerics.py::test_choice_of_algorithms"),
    Variable("MXNET_OPTIMIZER_AGGREGATION_SIZE", integer(1), 4, "C", "mxcy.optimizer.optimizer",
             "How many weights optimizers change in one call of an operator, where one exists: "
             "SGD, LARS, AdamW and AdaBelief at most 60, LAMB and LANS at most 45. Read when an "
             "optimizer is made; its argument aggregate_num wins. Unless one of them is given, "
             "SGD, NAG, Adam and AdamW change all weights of a step in one call, to the same bits.",
             test="env/test_training.py::test_optimizer_aggregation_size"),
)
