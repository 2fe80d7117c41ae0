"""Messages."""

from mxcy.env.kinds import flag, integer, words
from mxcy.env.variable import Variable

_LOGGED = "env/test_execution.py::test_verbose_logging"

ROWS = (
    Variable("MXCY_VERBOSE", words("dispatch", "passes", "storage", "tracebacks"), frozenset(), "C",
             "mxcy.ops.core.prepare",
             "Comma-separated list of topics to print; 'dispatch': the kernel selected for each "
             "new signature "
             "and why others rejected it; 'passes': the effect of each graph pass; 'storage': "
             "memory pools when created; 'tracebacks': keep mxcy's own frames in tracebacks "
             "of operators' errors.",
             test=_LOGGED),
    Variable("MXNET_EXEC_VERBOSE_LOGGING", flag, False, "C", "mxcy._execute.planned",
             "Print the steps of each new plan to standard error.", test=_LOGGED),
    Variable("MXNET_MEM_PLAN_VERBOSE_LOGGING", flag, False, "C", "mxcy._execute.planned",
             "Print the memory layout of each new plan to standard error.",
             test=_LOGGED),
    Variable("MXNET_SUBGRAPH_VERBOSE", flag, False, "C", "mxcy.graph.optimize",
             "Print a message before and after layers of a graph are fused.",
             test="env/test_graphs.py::test_subgraph_backend"),
    Variable("MXNET_RTC_VERBOSE", flag, False, "C", "mxcy.graph.passes.fuse",
             "Print each program of fused operators to standard error.",
             aliases=("MXNET_FUSION_VERBOSE",), test="env/test_graphs.py::test_use_fusion"),
    Variable("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", integer(0, 2), 0, "C", "mxcy.graph.target",
             "1: print the algorithm selected for each convolution; 2: also all times. On "
             "GPUs these are cuDNN's plans, with cuDNN's notes on them.",
             test="env/test_numerics.py::test_choice_of_algorithms"),
    Variable("DMLC_LOG_STACK_TRACE_DEPTH", integer(0), 0, "C", "mxcy._library.open",
             "Number of native stack frames in the text of an MXNetError.",
             test="env/test_messages.py::test_stack_trace_depth"),
    Variable("DMLC_LOG_BEFORE_THROW", flag, False, "C", "mxcy._library.open",
             "Print the text of each MXNetError when created, even if it is caught.",
             test="env/test_messages.py::test_stack_trace_depth"),
    Variable("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", flag, True, "F", "mxcy.ndarray.sparse.fallback",
             "Warn once per kind of call that converts sparse arrays to dense ones.",
             test="env/test_messages.py::test_storage_fallback"),
    Variable("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", flag, False, "C",
             "mxcy._execute.cached_op",
             "Print the storage types in each new graph with sparse arrays, and which operators "
             "run outside plans.",
             test="env/test_messages.py::test_storage_types_of_graphs"),
    Variable("MXNET_QUANTIZATION_VERBOSE", flag, False, "C", "mxcy.quantization.symbols",
             "Log the nodes that quantization changes.",
             test="quantization/test_models.py::test_verbose_prints_quantized_nodes"),
)
