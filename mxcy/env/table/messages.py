"""Messages."""

from mxcy.env.kinds import flag, integer, words
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXCY_VERBOSE", words("dispatch", "passes", "storage"), frozenset(), "C",
             "mxcy.ops.prepare",
             "Comma list of what to print; 'dispatch': the kernel chosen for each new signature, "
             "and why the others refused; 'passes': what each pass over a graph did; 'storage': "
             "memory pools as they are opened."),
    Variable("MXNET_RTC_VERBOSE", flag, False, "C", "mxcy.graph.passes.fuse",
             "Print each program of fused operators to the standard error stream.",
             aliases=("MXNET_FUSION_VERBOSE",)),
    Variable("MXNET_EXEC_VERBOSE_LOGGING", flag, False, "C", "mxcy.planned",
             "Print the steps of each new plan to the standard error stream."),
    Variable("MXNET_MEM_PLAN_VERBOSE_LOGGING", flag, False, "C", "mxcy.planned",
             "Print where the results of each new plan lie to the standard error stream."),
    Variable("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", integer(0, 2), 0, "C", "mxcy.graph.target",
             "1: print the algorithm chosen for each convolution; 2: also the times of all."),
)  # fmt: skip
