"""Graph execution."""

from mxcy.env.kinds import flag, integer
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_EXEC_ENABLE_INPLACE", flag, True, "C", "mxcy.graph.planning.memory",
             "Let outputs of a plan reuse the memory of inputs that are no longer needed.",
             test="env/test_execution.py::test_exec_enable_inplace"),
    Variable("NNVM_EXEC_MATCH_RANGE", integer(0), 16, "C", "mxcy.graph.planning.memory",
             "Free memory in a plan serves requests up to this factor smaller or larger; factors "
             "1, 2, "
             "4 and so on are tried and the smallest plan is used, from 16 on also one "
             "without fixed buffers. 0: no sharing.",
             aliases=("MXNET_EXEC_MATCH_RANGE",),
             test="env/test_execution.py::test_match_range"),
    Variable("MXNET_EXEC_NUM_TEMP", integer(1), 1, "C", "mxcy.graph.planning.memory",
             "Share a plan's memory only within each of this many nearly independent paths, at "
             "most "
             "the number of workers.",
             aliases=("NNVM_EXEC_NUM_TEMP",),
             test="env/test_execution.py::test_exec_num_temp"),
    Variable("MXNET_EXEC_BULK_EXEC_INFERENCE", flag, True, "C",
             "mxcy.graph.planning.segments",
             "Prediction: 1: the whole plan is one engine operation; 0: each operator is one.",
             test="env/test_execution.py::test_bulk_inference"),
    Variable("MXNET_EXEC_BULK_EXEC_TRAIN", flag, True, "C",
             "mxcy.graph.planning.segments",
             "Training: 1: consecutive operators form one engine operation; 0: each is one.",
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", integer(0), 15, "C",
             "mxcy.graph.planning.segments",
             "Training: maximum number of operators per engine operation.",
             under=("MXNET_EXEC_BULK_EXEC_TRAIN",),
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", integer(0), None, "C",
             "mxcy.graph.planning.segments", "The same for forward passes only; takes precedence.",
             under=("MXNET_EXEC_BULK_EXEC_TRAIN",),
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", integer(0), None, "C",
             "mxcy.graph.planning.segments", "The same for backward passes only; takes precedence.",
             under=("MXNET_EXEC_BULK_EXEC_TRAIN",),
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_BACKWARD_DO_MIRROR", flag, False, "C", "mxcy.graph.passes.mirror",
             "Training: recompute cheap values in the backward pass instead of storing them, "
             "if that reduces memory.", under=("MXNET_MEMORY_OPT",),
             test="env/test_execution.py::test_mirror"),
    Variable("MXNET_MEMORY_OPT", flag, False, "C", "mxcy.graph.passes.mirror",
             "Training: the same, and try further sets of values to recompute.",
             test="env/test_execution.py::test_mirror"),
    Variable("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", integer(2), 8, "F", "mxcy._execute.planned",
             "Gradients with fewer summands are added by one operator, others successively.",
             test="env/test_graphs.py::test_gradient_sums"),
    Variable("MXCY_CACHED_PLANS", integer(1), 256, "C", "mxcy._execute.cached_op",
             "Number of plans cached per hybridized block, one per signature (shapes, types and "
             "mode); the least recently used one is evicted.",
             test="env/test_execution.py::test_cached_plans"),
    Variable("MXCY_CACHED_CALLS", integer(16), 1024, "I", "mxcy.ndarray",
             "Number of prepared calls cached per operator and attributes, and "
             "number of sets of attributes per operator. The least recently used are evicted.",
             test="env/test_execution.py::test_cached_calls"),
)
