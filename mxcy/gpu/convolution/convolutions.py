"""Convolutions by cuDNN: selection of a plan under the environment variables.

The choice is cached in a file under MXNET_HOME, so the next process does not try plans again.
"""

import contextlib
import functools
import hashlib
import itertools
import math
from dataclasses import dataclass
from pathlib import Path

from mxcy import env
from mxcy._base import dtypes
from mxcy._base.files import replacing
from mxcy.gpu import driver
from mxcy.gpu.compile import function
from mxcy.gpu.convolution import cudnn
from mxcy.gpu.copies import memory_type
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import spread
from mxcy.gpu.table import TYPES, NativeCall
from mxcy.ops.core.params import CONV_PLAN

__all__ = ["planned"]

_FLOAT32 = dtypes.CODES["float32"]
_MEGABYTE = 1 << 20
_MOST_TRIED = 8  # number of plans that are timed, unless all are
_TUNES = {"off": 0, "limited_workspace": 1, "fastest": 2}
_DISABLED = {
    "fwd": "MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES",
    "dgrad": "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES",
    "wgrad": "MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES",
}
#: variables that exclude plans with a note if they are 0
_ALLOWED = {
    "MXNET_CUDA_ALLOW_TENSOR_CORE": "TENSOR_CORE",
    "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION": "REDUCED_PRECISION_REDUCTION",
    "MXNET_CUDNN_ALLOW_FFT": "FFT",
    "MXNET_CUDNN_ALLOW_WINOGRAD": "WINOGRAD",
}
_BIAS = """
extern "C" __global__ void __launch_bounds__(256, 4)
add_bias(S* out, const S* bias, Long count, Long channels, Long inner) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < count;
       p += (Long)gridDim.x * blockDim.x)
    out[p] = cast<S>(cast<T>(out[p]) + cast<T>(bias[p / inner % channels]));
}
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """How a plan is selected.

    Parameters
    ----------
    tune : {0, 1, 2}
        Take the first plan; or the fastest of the first ones, or of all.
    mode : {'A', 'B'}
        cuDNN's heuristics.
    limit : int or None
        Largest workspace in bytes.
    without : tuple of str
        Numerical notes of excluded plans.
    engines : tuple of int
        Excluded engines.
    """

    tune: int
    mode: str
    limit: int | None
    without: tuple
    engines: tuple


def _choice(attrs, convolution):
    """Return the `Choice` for a convolution from its attributes and the variables."""
    default = env.get("MXNET_CUDNN_AUTOTUNE_DEFAULT")
    tune = _TUNES.get(getattr(attrs, "cudnn_tune", None), default)
    if default == 0 and env.is_set("MXNET_CUDNN_AUTOTUNE_DEFAULT"):
        tune = 0  # whatever saved networks have
    without = [note for name, note in _ALLOWED.items() if not env.get(name)]
    if not env.get("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION"):
        without.append("DOWN_CONVERT_INPUTS")
        if convolution.dtype == _FLOAT32:  # on them it would be rounded to TF32
            without.append("TENSOR_CORE")
    if env.get("MXNET_ENFORCE_DETERMINISM"):
        tune = 0
        without.append("NONDETERMINISTIC")
    return Choice(
        tune,
        "A" if env.get("MXNET_CUDNN_HEUR_MODE") == 0 else "B",
        None if tune == 2 else getattr(attrs, "workspace", 1024) * _MEGABYTE,
        tuple(sorted(set(without))),
        tuple(env.get(_DISABLED[convolution.direction])),
    )


def _seconds(candidate, convolution, device):
    """Time a plan in seconds."""
    plan, workspace = driver.conv_plan(device, cudnn.properties(device), candidate.text)
    try:
        width = memory_type(convolution.dtype).itemsize
        sizes = [math.prod(shape) * width for shape in convolution.operands]
        return driver.conv_seconds(device, plan, sizes, workspace)
    finally:
        driver.forget_conv_plan(plan)


def _report(candidate, convolution, device, mode, mark, time):
    """Print a plan."""
    notes = cudnn.notes(convolution, cudnn.properties(device), mode, candidate.number)
    words = "".join(f", {note.lower()}" for note in notes)
    text = f"{candidate.name}, workspace {candidate.workspace}{time}{words}"
    print(f"mxcy cuDNN {convolution.direction}{mark}{text}", flush=True)


def _choose(convolution, device, choice, verbose):
    """Select a plan; None if there is none."""
    listed = cudnn.candidates(
        convolution, cudnn.properties(device), choice.mode, choice.without, choice.engines
    )
    within_limit = (c for c in listed if choice.limit is None or c.workspace <= choice.limit)
    most = {0: 1, 1: _MOST_TRIED}.get(choice.tune)
    candidates = list(itertools.islice(within_limit, None if verbose == 2 else most))
    timed = candidates[:most] if choice.tune else []
    times = [_seconds(candidate, convolution, device) for candidate in timed]
    best = candidates[times.index(min(times)) if times else 0] if candidates else None
    if verbose and best is None:
        print(f"mxcy cuDNN {convolution.direction}: no plan left, using mxcy's kernel", flush=True)
    elif verbose:
        for number, candidate in enumerate(candidates):
            if verbose == 2 or candidate is best:
                time = f", {1e6 * times[number]:.0f} us" if number < len(times) else ""
                _report(candidate, convolution, device, choice.mode, " *"[candidate is best], time)
    return best


@functools.cache
def _plan(convolution, device, choice):
    """Return (plan, bytes of its workspace) of a convolution; (0, 0) without a plan."""
    device_json, verbose = cudnn.properties(device), env.get("MXNET_CUDNN_ALGO_VERBOSE_LEVEL")
    key = repr((cudnn.version(), device_json, convolution, choice))
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    file = Path(env.get("MXNET_HOME"), "mxcy", "cuda", f"{name}.plan")
    if file.exists() and not verbose:
        text = file.read_text("utf-8")
    else:
        best = _choose(convolution, device, choice, verbose)
        text = "" if best is None else best.text
        with contextlib.suppress(OSError):  # the next process chooses again
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as stream:
                stream.write(text.encode())
    return driver.conv_plan(device, device_json, text) if text else (0, 0)


def _bias(dtype, device):
    """Return the kernel that adds a bias."""
    computed = "double" if cudnn.TYPES[dtype][1] == "DOUBLE" else "float"
    types = f"typedef {TYPES[dtype]} S;\ntypedef {computed} T;\n"
    return function(f"{elements()}{types}{_BIAS}", "add_bias", device)


def _requested(values, direction, dtype):
    """Return the `Convolution` to request from cuDNN."""
    flat = values["source"][0] == values["target"][0] == values["kernel"][0] == 1
    first = int(flat and not values["pad"][0])  # drop a leading extent of 1
    extents = {
        name: tuple(values[name][first:])
        for name in ("source", "target", "kernel", "stride", "dilate", "pad")
    }
    batch, groups, channels, filters = (
        values[name] for name in ("batch", "groups", "channels", "filters")
    )
    return cudnn.Convolution(
        direction,
        dtype,
        (batch, groups * channels, *extents["source"]),
        (groups * filters, channels, *extents["kernel"]),
        (batch, groups * filters, *extents["target"]),
        extents["pad"],
        extents["stride"],
        extents["dilate"],
    )


def planned(request, direction):
    """Return a convolution by cuDNN, or None if it has no plan.

    Parameters
    ----------
    request : Request
        With the parameters of the CPU's convolutions.
    direction : {'fwd', 'dgrad', 'wgrad'}

    Returns
    -------
    NativeCall or None
    """
    values, attrs, dtype = request.values, request.attrs, request.outs[0].dtype
    if getattr(attrs, "cudnn_off", False) or dtype not in cudnn.TYPES:
        return None
    if any(spec.dtype != dtype or not spec.size for spec in (*request.ins, *request.outs)):
        return None
    if not cudnn.is_open():
        return None
    convolution = _requested(values, direction, dtype)
    plan, workspace = _plan(convolution, request.device, _choice(attrs, convolution))
    if not plan:
        return None
    shape, has_bias = convolution.operands[2], len(request.ins) > 2
    params = CONV_PLAN.pack(
        device=request.device,
        grid=spread(math.prod(shape))[0],
        plan=plan,
        bias=_bias(dtype, request.device) if has_bias else 0,
        count=math.prod(shape),
        channels=shape[1],
        inner=math.prod(shape[2:]),
    )
    return NativeCall("gpu_conv", params, workspace)
