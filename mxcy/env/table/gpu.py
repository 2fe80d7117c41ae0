"""GPUs."""

from typing import Any

from mxcy.env.kinds import Kind, anything, flag, integer, integers
from mxcy.env.variable import Condition, Variable

_NO_GPU = "on GPUs mxcy uses neither cuTENSOR nor TensorRT"


def _rows(*facts: tuple[str, Kind, Any, str], silent: bool = False) -> tuple[Variable, ...]:
    """Rows of (name, kind, default, doc) that do nothing without a GPU."""
    return tuple(
        Variable(name, kind, default, "F", "mxcy.gpu", doc, inert=_NO_GPU, silent=silent)
        for name, kind, default, doc in facts
    )


#: why variables of GPUs do nothing where there is none; `mxcy.gpu.devices` knows
MISSING = Condition()
#: the same of cuDNN's
NO_CUDNN = Condition()


def _products(name: str, default: bool, doc: str, under: tuple[str, ...] = ()) -> Variable:
    """A row of how cuBLAS adds up, which is decided when a call of a new signature is prepared."""
    return Variable(name, flag, default, "C", "mxcy.gpu.blas", doc, inert=MISSING, under=under,
                    test="gpu/device/test_blas.py::test_variables")


def _cudnn(name: str, kind: Kind, default: Any, doc: str) -> Variable:
    """A row of how convolutions on GPUs choose among cuDNN's plans."""
    return Variable(name, kind, default, "C", "mxcy.gpu.convolutions", doc, inert=NO_CUDNN,
                    test="gpu/device/test_convolutions.py::test_variables")


def _graphs(name: str, kind: Kind, default: Any, when: str, doc: str, test: str) -> Variable:
    """A row of CUDA graphs."""
    return Variable(name, kind, default, when, "mxcy.gpu.graphs", doc, inert=MISSING,
                    test=f"gpu/device/test_graphs.py::{test}")


ROWS = (
    _products("MXNET_CUDA_ALLOW_TENSOR_CORE", True,
              "0: products of matrices and convolutions on GPUs use no Tensor Cores, and products "
              "no faster algorithms that round more."),
    _products("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", False,
              "1: Tensor Cores may round the operands of products and convolutions of float32 on "
              "GPUs to TF32, which has 10 bits of fraction.", ("MXNET_CUDA_ALLOW_TENSOR_CORE",)),
    _products("MXNET_FC_TRUE_FP16", False,
              "1: products of float16 matrices on GPUs add up in float16, not in float32."),
    _graphs("MXNET_ENABLE_CUDA_GRAPHS", flag, False, "C",
            "1: the launches of a segment of a plan on a GPU are captured in its second run, and "
            "repeated as one CUDA graph by runs whose arrays lie where they lay. For executors "
            "and hybridized blocks; read when a plan is made.", "test_graphs_are_replayed"),
    _graphs("MXNET_CUDA_GRAPHS_VERBOSE", flag, False, "C",
            "1: print of each captured graph how many launches it has, and of which operators.",
            "test_messages"),
    _graphs("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", integer(0), 0, "C",
            "The same of so many graphs of the process, the first ones.", "test_messages"),
    _graphs("MXNET_CUDA_GRAPHS_DBG_FILE", anything, "", "C",
            "Each captured graph is described in a file named after this: "
            "<this>-dev<N>-trn.<number>.dot, or -inf.", "test_files"),
    _graphs("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", integer(0), None, "C",
            "What these files tell, in bits that cudaGraphDebugDotPrint takes; default: all.",
            "test_files"),
    _cudnn("MXNET_CUDNN_HEUR_MODE", integer(0, 1), 1,
           "How cuDNN guesses which plans of a convolution are fast: 0 by a decision tree, 1 by a "
           "network."),
    _cudnn("MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION", flag, True,
           "0: no plans of cuDNN that add float16 numbers up in float16."),
    _cudnn("MXNET_CUDNN_ALLOW_FFT", flag, True,
           "0: no plans of cuDNN that compute convolutions by Fourier transforms."),
    _cudnn("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", integers(0), (),
           "Numbers of cuDNN's engines that compute no convolutions. Where none is left, mxcy's "
           "own kernel computes them."),
    _cudnn("MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES", integers(0), (),
           "The same for gradients of data."),
    _cudnn("MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES", integers(0), (),
           "The same for gradients of weights."),
    Variable("MXNET_CUDNN_LIB_CHECKING", flag, True, "F", "mxcy.gpu.cudnn",
             "Warn when cuDNN's frontend is there without cuDNN, or with one that is too old.",
             test="gpu/test_offer.py::test_versions_of_cudnn", inert=NO_CUDNN),
    *_rows(
        ("MXNET_CUTENSOR_CACHEFILE", anything, "", "The file of cuTENSOR's plans."),
        ("MXNET_USE_TENSORRT", flag, False, "Run graphs by TensorRT."),
        ("MXNET_TENSORRT_USE_FP16", flag, True, "Let TensorRT compute in float16."),
    ),
    Variable("MXNET_GPU_WORKER_NSTREAMS", integer(1), 1, "F", "mxcy.gpu",
             "2: the gradients of data and weights of a convolution are computed in two streams.",
             inert="both gradients are steps of one plan, which a GPU gets in one stream, so that "
             "CUDA graphs can hold it; threads have streams of their own"),
    Variable("MXNET_RTC_SIZE_WARNING", integer(0), 1, "C", "mxcy.gpu.compile",
             "Not 0: warn when more than 10000 compiled kernels are kept.",
             aliases=("MXNET_FUSION_SIZE_WARNING",), inert=MISSING,
             test="gpu/device/test_launches.py::test_many_kernels"),
    Variable("MXNET_CUDA_LIB_CHECKING", flag, True, "F", "mxcy.gpu.devices",
             "Warn when CuPy or NVRTC are of a newer CUDA than the driver, or NVRTC is missing.",
             test="gpu/test_offer.py::test_versions", inert=MISSING),
    Variable("MXNET_ENABLE_GPU_P2P", flag, True, "F", "mxcy.gpu.devices",
             "0: GPUs do not copy from each other directly, but through the host.",
             test="gpu/device/test_copies.py::test_peers", inert=MISSING, silent=True),
    Variable("CUDA_VISIBLE_DEVICES", anything, "", "F", "mxcy.gpu",
             "The GPUs that exist for this process.", silent=True,
             inert="the CUDA driver reads it, before mxcy sees any GPU"),
)
