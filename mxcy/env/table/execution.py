"""Execution of graphs."""

from mxcy.env.kinds import flag, integer
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_EXEC_ENABLE_INPLACE", flag, True, "C", "mxcy.graph.planning.memory",
             "Let outputs of a plan take over the memory of inputs that nobody reads any more.",
             test="env/test_execution.py::test_exec_enable_inplace"),
    Variable("NNVM_EXEC_MATCH_RANGE", integer(0), 16, "C", "mxcy.graph.planning.memory",
             "Free memory in a plan serves requests up to this many times smaller or larger; 1, 2, "
             "4 and so on up to it are tried and the smallest plan is kept, from 16 on also one "
             "without fixed buffers. 0: nothing is shared.",
             aliases=("MXNET_EXEC_MATCH_RANGE",),
             test="env/test_execution.py::test_match_range"),
    Variable("MXNET_EXEC_NUM_TEMP", integer(1), 1, "C", "mxcy.graph.planning.memory",
             "Share a plan's memory only within each of this many nearly independent paths; more "
             "than there are workers count as that many.",
             aliases=("NNVM_EXEC_NUM_TEMP",),
             test="env/test_execution.py::test_exec_num_temp"),
    Variable("MXNET_EXEC_BULK_EXEC_INFERENCE", flag, True, "C",
             "mxcy.graph.planning.segments",
             "Prediction: the whole plan is one segment of work; 0: each operator is one.",
             test="env/test_execution.py::test_bulk_inference"),
    Variable("MXNET_EXEC_BULK_EXEC_TRAIN", flag, True, "C",
             "mxcy.graph.planning.segments",
             "Training: consecutive operators form segments; 0: each operator is one.",
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", integer(0), 15, "C",
             "mxcy.graph.planning.segments",
             "Training: the most operators of a segment.", under=("MXNET_EXEC_BULK_EXEC_TRAIN",),
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", integer(0), None, "C",
             "mxcy.graph.planning.segments", "The same for forward passes only.",
             under=("MXNET_EXEC_BULK_EXEC_TRAIN",),
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", integer(0), None, "C",
             "mxcy.graph.planning.segments", "The same for backward passes only.",
             under=("MXNET_EXEC_BULK_EXEC_TRAIN",),
             test="env/test_execution.py::test_bulk_training"),
    Variable("MXNET_BACKWARD_DO_MIRROR", flag, False, "C", "mxcy.graph.passes.mirror",
             "Training: compute cheap values again in the backward pass instead of keeping them, "
             "where the plan then needs less memory.", under=("MXNET_MEMORY_OPT",),
             test="env/test_execution.py::test_mirror"),
    Variable("MXNET_MEMORY_OPT", flag, False, "C", "mxcy.graph.passes.mirror",
             "Training: the same, and try further ways to need less memory.",
             test="env/test_execution.py::test_mirror"),
    Variable("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", integer(2), 8, "F", "mxcy._execute.planned",
             "Gradients with fewer summands are added by one operator, else one after the other.",
             test="env/test_graphs.py::test_gradient_sums"),
    Variable("MXCY_CACHED_PLANS", integer(1), 256, "C", "mxcy._execute.cached_op",
             "How many plans a hybridized block keeps, one for each signature (shapes, types and "
             "mode); a new one takes the place of the one that was used longest ago.",
             test="env/test_execution.py::test_cached_plans"),
    Variable("MXCY_CACHED_CALLS", integer(16), 1024, "I", "mxcy.ndarray",
             "How many prepared calls are kept of each operator with the same attributes, and of "
             "each operator how many sets of attributes. Those not used for longest go.",
             test="env/test_execution.py::test_cached_calls"),
)
