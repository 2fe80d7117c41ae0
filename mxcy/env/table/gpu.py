"""GPUs."""

from typing import Any

from mxcy.env.kinds import Kind, anything, flag, integer, integers
from mxcy.env.variable import Variable

_NO_GPU = "mxcy computes on CPUs only yet"


def _rows(*facts: tuple[str, Kind, Any, str], silent: bool = False) -> tuple[Variable, ...]:
    """Rows of (name, kind, default, doc) that do nothing without a GPU."""
    return tuple(
        Variable(name, kind, default, "F", "mxcy.gpu", doc, inert=_NO_GPU, silent=silent)
        for name, kind, default, doc in facts
    )


ROWS = (
    *_rows(
        ("MXNET_GPU_WORKER_NSTREAMS", integer(1), 1,
         "2: the gradients of data and weights of a convolution are computed in two streams."),
        ("MXNET_ENABLE_CUDA_GRAPHS", flag, False,
         "Record the launches of a segment once, and repeat them as one."),
        ("MXNET_CUDA_GRAPHS_VERBOSE", flag, False, "Print what is recorded."),
        ("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", integer(0), 0, "The most such messages."),
        ("MXNET_CUDA_GRAPHS_DBG_FILE", anything, "",
         "Files beginning with this take each recorded graph."),
        ("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", integer(0), None,
         "What these files tell, as cudaGraphDebugDotPrint takes it; default: all."),
        ("MXNET_CUDNN_HEUR_MODE", integer(0, 1), None,
         "How cuDNN guesses the fastest algorithm: 0 by a decision tree, 1 by a network."),
        ("MXNET_CUDA_ALLOW_TENSOR_CORE", flag, True, "Let cuBLAS and cuDNN use Tensor Cores."),
        ("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", flag, False,
         "Let Tensor Cores round float32 numbers."),
        ("MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION", flag, True,
         "Let cuDNN add float16 numbers up in float16."),
        ("MXNET_CUDNN_ALLOW_FFT", flag, True, "Let cuDNN compute convolutions by transforms."),
        ("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", integers(0), (),
         "Engines of cuDNN that compute no convolutions."),
        ("MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES", integers(0), (),
         "Engines of cuDNN that compute no gradients of a convolution's data."),
        ("MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES", integers(0), (),
         "Engines of cuDNN that compute no gradients of a convolution's weights."),
        ("MXNET_CUDA_LIB_CHECKING", flag, True, "Warn of unfit versions of CUDA."),
        ("MXNET_CUDNN_LIB_CHECKING", flag, True, "Warn of unfit versions of cuDNN."),
        ("MXNET_FC_TRUE_FP16", flag, False, "Products of float16 matrices add up in float16."),
        ("MXNET_CUTENSOR_CACHEFILE", anything, "", "The file of cuTENSOR's plans."),
        ("MXNET_USE_TENSORRT", flag, False, "Run graphs by TensorRT."),
        ("MXNET_TENSORRT_USE_FP16", flag, True, "Let TensorRT compute in float16."),
    ),
    Variable("MXNET_RTC_SIZE_WARNING", integer(0), 1, "F", "mxcy.gpu",
             "Warn when more than 10000 compiled kernels are kept.",
             aliases=("MXNET_FUSION_SIZE_WARNING",), inert=_NO_GPU),
    *_rows(
        ("MXNET_ENABLE_GPU_P2P", flag, True, "Copy between GPUs directly, where they can."),
        ("CUDA_VISIBLE_DEVICES", anything, "", "The GPUs that exist for this process."),
        silent=True,
    ),
)
