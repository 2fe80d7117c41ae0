"""cuDNN plans for convolutions, listed by its Python frontend for any GPU."""

import ctypes
import functools
import importlib.util
import json
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path

from mxcy import env
from mxcy._base import dtypes
from mxcy.gpu import driver

__all__ = [
    "TYPES",
    "Convolution",
    "Candidate",
    "advice",
    "is_open",
    "notes",
    "candidates",
    "properties",
    "use_library",
    "version",
]

_NAME = "libcudnn.so.9"
_OLDEST = 90800  # first version that plans by device properties
#: dtype -> cuDNN's names of it and of its accumulation type
TYPES = {
    dtypes.CODES["float32"]: ("FLOAT", "FLOAT"),
    dtypes.CODES["float64"]: ("DOUBLE", "DOUBLE"),
    dtypes.CODES["float16"]: ("HALF", "FLOAT"),
    dtypes.CODES["bfloat16"]: ("BFLOAT16", "FLOAT"),
}
#: cuDNN's device property -> the driver's attribute number
_ATTRIBUTES = {
    "regsPerBlock": 12, "multiProcessorCount": 16, "warpSize": 10, "maxSharedMemoryPerBlock": 8,
    "maxSharedMemoryPerBlockOptin": 97, "reservedSharedMemoryPerBlock": 111,
    "maxRegistersPerSM": 82, "maxCtasPerSM": 106, "maxThreadsPerBlock": 1, "maxThreadsPerSM": 39,
    "pciDeviceId": 34, "isTccDriver": 35, "supportCoopLaunch": 95, "smClockRateKHz": 13,
    "memClockRateKHz": 36, "memoryBusWidth": 37, "l2CacheSize": 38,
}  # fmt: skip
_NOTES = ("TENSOR_CORE", "DOWN_CONVERT_INPUTS", "REDUCED_PRECISION_REDUCTION", "FFT", "WINOGRAD",
          "NONDETERMINISTIC", "STRICT_NAN_PROP")  # fmt: skip
#: UBJSON marker of a string length -> its struct format
_LENGTHS = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i"}


class _Chosen:
    """The library that runs plans, if it is not NVIDIA's."""

    path = None


def use_library(path):
    """Run plans by a library other than NVIDIA's."""
    _Chosen.path = path


@functools.cache
def _frontend():
    """Return NVIDIA's Python frontend, or None."""
    if importlib.util.find_spec("cudnn") is None:
        return None
    package = importlib.util.find_spec("nvidia")
    for root in () if package is None else package.submodule_search_locations:
        path = Path(root, "cudnn", "lib", _NAME)
        if path.exists():
            ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)  # where the frontend looks up functions
            break
    try:
        import cudnn
    except (ImportError, OSError):
        return None
    return cudnn


def advice(known):
    """Return what is wrong with a version of cuDNN (0: not found); empty if nothing is."""
    silence = "(MXNET_CUDNN_LIB_CHECKING=0 silences this)"
    if not known:
        return f"cuDNN's frontend cannot find cuDNN: pip install nvidia-cudnn-cu13 {silence}"
    if known < _OLDEST:
        return (
            f"cuDNN {known} is too old, so convolutions on GPUs use mxcy's kernels: pip "
            f"install 'nvidia-cudnn-cu13>=9.8' {silence}"
        )
    return ""


@functools.cache
def is_open():
    """Return whether cuDNN and its frontend are usable; warn if only one is."""
    if importlib.util.find_spec("cudnn") is None:
        return False
    known = version() if _frontend() and driver.open_cudnn(_Chosen.path or _NAME) else 0
    problem = advice(known)
    if problem and env.get("MXNET_CUDNN_LIB_CHECKING"):
        warnings.warn(problem, UserWarning, stacklevel=2)
    return not problem


@functools.cache
def version():
    """Return the version of cuDNN, such as 92801."""
    return _frontend().backend_version()


@functools.cache
def properties(device):
    """Return the device properties for cuDNN as JSON."""
    values = {name: driver.attribute(device, number) for name, number in _ATTRIBUTES.items()}
    major, minor = (driver.attribute(device, number) for number in (75, 76))
    values |= {
        "cudaDeviceId": device,
        "deviceVer": 100 * major + 10 * minor,
        "driverVer": driver.version(),
        "deviceName": f"sm_{major}{minor}",
        "maxGridSize": [driver.attribute(device, number) for number in (5, 6, 7)],
        "maxBlockSize": [driver.attribute(device, number) for number in (2, 3, 4)],
        "smCountOrigin": 0,
        "oversizedSharedMemoryPerBlock": 0,
        "totalGlobalMem": driver.memory(device)[1],
    }
    return json.dumps(values)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A requested convolution, or one of its gradients.

    Parameters
    ----------
    direction : {'fwd', 'dgrad', 'wgrad'}
        The convolution, or its gradient with respect to the data or the weight.
    dtype : int
    data, weight, out : tuple of int
        Shapes of the convolution's arrays.
    padding, stride, dilation : tuple of int
    """

    direction: str
    dtype: int
    data: tuple
    weight: tuple
    out: tuple
    padding: tuple
    stride: tuple
    dilation: tuple

    @property
    def operands(self):
        """Return the shapes of both operands and of the result."""
        shapes = {
            "fwd": (self.data, self.weight, self.out),
            "dgrad": (self.out, self.weight, self.data),
            "wgrad": (self.data, self.out, self.weight),
        }
        return shapes[self.direction]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan that cuDNN offers.

    Parameters
    ----------
    name : str
        Engine and knobs, such as ``"eng46_k2=4"``.
    workspace : int
        Bytes.
    text : str
        The plan.
    number : int
        Index among all plans, excluded ones included.
    """

    name: str
    workspace: int
    text: str
    number: int


def _strides(shape):
    steps = [1]
    for extent in shape[:0:-1]:
        steps.insert(0, steps[0] * extent)
    return steps


def _graph(convolution, device_json):
    """Return the frontend's graph of a convolution on a device."""
    cudnn = _frontend()
    io_type, compute_type = (getattr(cudnn.data_type, name) for name in TYPES[convolution.dtype])
    device = json.loads(device_json)
    graph = cudnn.pygraph(
        io_data_type=io_type,
        intermediate_data_type=compute_type,
        compute_data_type=compute_type,
        device_property=cudnn.create_device_properties(device_json),
        sm_version=device["deviceVer"] // 10,
        sm_count=device["multiProcessorCount"],
    )
    tensors = []
    for name, shape in enumerate(convolution.operands[:2], 1):
        tensors.append(graph.tensor(dim=shape, stride=_strides(shape), data_type=io_type))
        tensors[-1].set_uid(name)
    windows = {name: list(getattr(convolution, name)) for name in ("padding", "stride", "dilation")}
    method, names = {
        "fwd": (graph.conv_fprop, ("image", "weight")),
        "dgrad": (graph.conv_dgrad, ("loss", "filter")),
        "wgrad": (graph.conv_wgrad, ("image", "loss")),
    }[convolution.direction]
    result = method(**dict(zip(names, tensors, strict=True)), **windows)
    shape = convolution.operands[2]
    result.set_uid(3).set_dim(list(shape)).set_stride(_strides(shape))
    result.set_output(True).set_data_type(io_type)
    graph.validate()
    graph.build_operation_graph()
    return graph


def _text(graph):
    """Extract the plan's text from the frontend's serialized graph."""
    content, mark = bytes(graph.serialize()), b"cudnn_backend_dataS"
    at = content.index(mark) + len(mark)
    form = _LENGTHS[content[at : at + 1]]
    (length,) = struct.unpack_from(form, content, at + 1)
    first = at + 1 + struct.calcsize(form)
    return content[first : first + length].decode()


def _unfit():
    """Return the errors by which cuDNN declines a request."""
    return RuntimeError, _frontend().cudnnGraphNotSupportedError


def _listed(convolution, device_json, mode, without, engines):
    """Return the graph of a convolution with its plans listed and filtered."""
    cudnn = _frontend()
    graph = _graph(convolution, device_json)
    graph.create_execution_plans([getattr(cudnn.heur_mode, mode), cudnn.heur_mode.FALLBACK])
    graph.deselect_numeric_notes([getattr(cudnn.numerical_note, note) for note in without])
    graph.deselect_engines([f"eng{engine}" for engine in engines])
    graph.check_support()
    return graph


def candidates(convolution, device_json, mode, without=(), engines=()):
    """Yield cuDNN's plans for a convolution, the most promising first.

    Parameters
    ----------
    convolution : Convolution
    device_json : str
        `properties` of a device.
    mode : {'A', 'B'}
        cuDNN's heuristics: a decision tree, or a neural network.
    without : sequence of str
        Numerical notes, such as ``"TENSOR_CORE"``, of excluded plans.
    engines : sequence of int
        Excluded engines.

    Yields
    ------
    Candidate
        Plans are built on request, which can take a second.
    """
    try:
        graph = _listed(convolution, device_json, mode, without, engines)
    except _unfit():
        return
    for number in range(graph.get_execution_plan_count()):
        try:
            graph.build_plan_at_index(number)
            size, text = graph.get_workspace_size_plan_at_index(number), _text(graph)
        except _unfit():
            continue  # it is excluded, or not for this device
        yield Candidate(graph.get_plan_name_at_index(number), size, text, number)


def notes(convolution, device_json, mode, number):
    """Return the numerical notes of a plan.

    Parameters
    ----------
    convolution, device_json, mode
        As for `candidates`.
    number : int
        An `Candidate`'s number.

    Returns
    -------
    list of str
    """
    noted = []
    for note in _NOTES:
        graph = _listed(convolution, device_json, mode, (note,), ())
        try:
            graph.build_plan_at_index(number)
        except _unfit():
            noted.append(note)
    return noted
