"""Messages."""

from mxcy.env.kinds import flag, integer, words
from mxcy.env.variable import Variable

_LOGGED = "env/test_execution.py::test_verbose_logging"

ROWS = (
    Variable("MXCY_VERBOSE", words("dispatch", "passes", "storage", "tracebacks"), frozenset(), "C",
             "mxcy.ops.core.prepare",
             "Comma list of what to print; 'dispatch': the kernel chosen for each new signature, "
             "and why the others refused; 'passes': what each pass over a graph did; 'storage': "
             "memory pools as they are opened; 'tracebacks': leave mxcy's own steps in tracebacks "
             "of what operators refuse.",
             test=_LOGGED),
    Variable("MXNET_EXEC_VERBOSE_LOGGING", flag, False, "C", "mxcy._execute.planned",
             "Print the steps of each new plan to the standard error stream.", test=_LOGGED),
    Variable("MXNET_MEM_PLAN_VERBOSE_LOGGING", flag, False, "C", "mxcy._execute.planned",
             "Print where the results of each new plan lie to the standard error stream.",
             test=_LOGGED),
    Variable("MXNET_SUBGRAPH_VERBOSE", flag, False, "C", "mxcy.graph.optimize",
             "Print when a graph is rewritten for fused layers, before and after.",
             test="env/test_graphs.py::test_subgraph_backend"),
    Variable("MXNET_RTC_VERBOSE", flag, False, "C", "mxcy.graph.passes.fuse",
             "Print each program of fused operators to the standard error stream.",
             aliases=("MXNET_FUSION_VERBOSE",), test="env/test_graphs.py::test_use_fusion"),
    Variable("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", integer(0, 2), 0, "C", "mxcy.graph.target",
             "1: print the algorithm chosen for each convolution; 2: also the times of all. On "
             "GPUs of cuDNN's plans, with what cuDNN notes of them.",
             test="env/test_numerics.py::test_choice_of_algorithms"),
    Variable("DMLC_LOG_STACK_TRACE_DEPTH", integer(0), 0, "C", "mxcy._library.open",
             "How many native functions the text of an MXNetError names.",
             test="env/test_messages.py::test_stack_trace_depth"),
    Variable("DMLC_LOG_BEFORE_THROW", flag, False, "C", "mxcy._library.open",
             "Print the text of each MXNetError when it is made, even if it is caught.",
             test="env/test_messages.py::test_stack_trace_depth"),
    Variable("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", flag, True, "F", "mxcy.ndarray.sparse.fallback",
             "Tell once for each kind of call when it makes sparse arrays dense.",
             test="env/test_messages.py::test_storage_fallback"),
    Variable("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", flag, False, "C",
             "mxcy._execute.cached_op",
             "Print the storage types in each new graph with sparse arrays, and what runs alone.",
             test="env/test_messages.py::test_storage_types_of_graphs"),
    Variable("MXNET_QUANTIZATION_VERBOSE", flag, False, "C", "mxcy.quantization.symbols",
             "Log which nodes quantization changes.",
             test="quantization/test_models.py::test_verbose_tells_which_nodes_are_quantized"),
)
