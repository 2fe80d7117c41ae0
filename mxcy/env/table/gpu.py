"""GPUs."""

from typing import Any

from mxcy.env.kinds import Kind, anything, flag, integer, integers
from mxcy.env.variable import Condition, Variable

_NO_GPU = "on GPUs mxcy uses neither cuTENSOR nor TensorRT"


def _rows(*facts: tuple[str, Kind, Any, str], silent: bool = False) -> tuple[Variable, ...]:
    """Make rows of (name, kind, default, doc) without effect without a GPU."""
    return tuple(
        Variable(name, kind, default, "F", "mxcy.gpu", doc, inert=_NO_GPU, silent=silent)
        for name, kind, default, doc in facts
    )


#: why GPU variables have no effect, set by `mxcy.gpu.devices`
MISSING = Condition()
#: the same for cuDNN's variables
NO_CUDNN = Condition()


def _products(name: str, default: bool, doc: str, under: tuple[str, ...] = ()) -> Variable:
    """Make a row on cuBLAS's arithmetic, read when a call is prepared."""
    return Variable(name, flag, default, "C", "mxcy.gpu.matrix.blas", doc, inert=MISSING,
                    under=under, test="gpu/device/test_blas.py::test_variables")


def _cudnn(name: str, kind: Kind, default: Any, doc: str, test: str) -> Variable:
    """Make a row on the selection of cuDNN's convolution plans."""
    return Variable(name, kind, default, "C", "mxcy.gpu.convolution.convolutions", doc,
                    inert=NO_CUDNN, test=f"gpu/{test}")


def _graphs(name: str, kind: Kind, default: Any, when: str, doc: str, test: str) -> Variable:
    """Make a row on CUDA graphs."""
    return Variable(name, kind, default, when, "mxcy.gpu.graphs", doc, inert=MISSING,
                    test=f"gpu/device/test_graphs.py::{test}")


ROWS = (
    _products("MXNET_CUDA_ALLOW_TENSOR_CORE", True,
              "0: matrix products and convolutions on GPUs do not use Tensor Cores, and products "
              "do "
              "not use faster but less precise algorithms."),
    _products("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", False,
              "1: Tensor Cores may round the operands of products and convolutions of float32 on "
              "GPUs to TF32, with a 10-bit mantissa.", ("MXNET_CUDA_ALLOW_TENSOR_CORE",)),
    _products("MXNET_FC_TRUE_FP16", False,
              "1: float16 matrix products on GPUs accumulate in float16 rather than float32."),
    _graphs("MXNET_ENABLE_CUDA_GRAPHS", flag, False, "C",
            "1: the launches of a plan's segment on a GPU are captured in its second run and "
            "replayed as a CUDA graph in runs with the same array addresses. For executors "
            "and hybridized blocks; read when a plan is made.", "test_graphs_are_replayed"),
    _graphs("MXNET_CUDA_GRAPHS_VERBOSE", flag, False, "C",
            "1: print the number of launches and the operators of each captured graph.",
            "test_messages"),
    _graphs("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", integer(0), 0, "C",
            "The same for the first N graphs of the process.", "test_messages"),
    _graphs("MXNET_CUDA_GRAPHS_DBG_FILE", anything, "", "C",
            "Each captured graph is described in a file named after this: "
            "<this>-dev<N>-trn.<number>.dot, or -inf.", "test_files"),
    _graphs("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", integer(0), None, "C",
            "Contents of these files, as flags of cudaGraphDebugDotPrint; default: all.",
            "test_files"),
    _cudnn("MXNET_CUDNN_HEUR_MODE", integer(0, 1), 1,
           "cuDNN's heuristics for fast convolution plans: 0 a decision tree, 1 a "
           "network.", "device/test_convolutions.py::test_variables"),
    _cudnn("MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION", flag, True,
           "0: exclude cuDNN plans that accumulate float16 in float16.",
           "test_cudnn.py::test_variables_name_notes"),
    _cudnn("MXNET_CUDNN_ALLOW_FFT", flag, True,
           "0: exclude cuDNN plans that compute convolutions by FFT.",
           "test_cudnn.py::test_variables_name_notes"),
    _cudnn("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", integers(0), (),
           "cuDNN engines to exclude for convolutions. If none is left, mxcy's "
           "own kernel is used.", "test_cudnn.py::test_engines"),
    _cudnn("MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES", integers(0), (),
           "The same for gradients of data.", "test_cudnn.py::test_engines"),
    _cudnn("MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES", integers(0), (),
           "The same for gradients of weights.", "test_cudnn.py::test_engines"),
    Variable("MXNET_CUDNN_LIB_CHECKING", flag, True, "F", "mxcy.gpu.convolution.cudnn",
             "Warn if cuDNN's frontend is installed without cuDNN, or with one that is too old.",
             test="gpu/test_offer.py::test_versions_of_cudnn", inert=NO_CUDNN),
    *_rows(
        ("MXNET_CUTENSOR_CACHEFILE", anything, "", "The file of cuTENSOR's plans."),
        ("MXNET_USE_TENSORRT", flag, False, "Run graphs by TensorRT."),
        ("MXNET_TENSORRT_USE_FP16", flag, True, "Let TensorRT compute in float16."),
    ),
    Variable("MXNET_GPU_WORKER_NSTREAMS", integer(1), 1, "F", "mxcy.gpu",
             "2: compute the gradients of data and weights of a convolution in two streams.",
             inert="both gradients are steps of one plan, launched in one stream, so that "
             "a CUDA graph can contain it; each thread has its own stream"),
    Variable("MXNET_RTC_SIZE_WARNING", integer(0), 1, "C", "mxcy.gpu.compile",
             "Nonzero: warn if more than 10000 compiled kernels are cached.",
             aliases=("MXNET_FUSION_SIZE_WARNING",), inert=MISSING,
             test="gpu/device/test_launches.py::test_many_kernels"),
    Variable("MXNET_CUDA_LIB_CHECKING", flag, True, "F", "mxcy.gpu.devices",
             "Warn if CuPy or NVRTC require a newer CUDA than the driver, or NVRTC is missing.",
             test="gpu/test_offer.py::test_versions_are_checked", inert=MISSING),
    Variable("MXNET_ENABLE_GPU_P2P", flag, True, "F", "mxcy.gpu.devices",
             "0: copies between GPUs go through the host.",
             test="gpu/device/test_copies.py::test_peers", inert=MISSING, silent=True),
    Variable("CUDA_VISIBLE_DEVICES", anything, "", "F", "mxcy.gpu",
             "The GPUs visible to this process.", silent=True,
             inert="it is read by the CUDA driver"),
)
