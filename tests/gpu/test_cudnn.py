"""Plans of the real cuDNN for GPUs that are not present, and how variables filter them."""

import json

import pytest

from mxcy.gpu.convolution import convolutions, cudnn
from tests.gpu.standin.seam import offer_cudnn

ARCHITECTURES = (75, 80, 90, 100)
#: properties of an H100, except the architecture
ABOUT = {
    "cudaDeviceId": 0, "driverVer": 13000, "maxGridSize": [2147483647, 65535, 65535],
    "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "multiProcessorCount": 132,
    "smCountOrigin": 0, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
    "maxSharedMemoryPerBlockOptin": 232448, "oversizedSharedMemoryPerBlock": 0,
    "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
    "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
    "supportCoopLaunch": 1, "smClockRateKHz": 1980000, "memClockRateKHz": 2619000,
    "memoryBusWidth": 5120, "l2CacheSize": 52428800, "totalGlobalMem": 85017755648,
}  # fmt: skip

if not offer_cudnn():
    reason = "cuDNN is not installed; make test-cudnn installs it (1.7 GB)"
    pytest.skip(reason, allow_module_level=True)


def about(architecture):
    return json.dumps(ABOUT | {"deviceVer": 10 * architecture, "deviceName": f"sm_{architecture}"})


def case(direction, dtype=0):
    """A convolution of ResNet-50."""
    image, one = (32, 64, 56, 56), (1, 1)
    return cudnn.Convolution(direction, dtype, image, (64, 64, 3, 3), image, one, one, one)


def names(direction, dtype, architecture, *without):
    convolution, device = case(direction, dtype), about(architecture)
    return [plan.name for plan in cudnn.candidates(convolution, device, "A", without)]


@pytest.mark.parametrize("direction", ["fwd", "dgrad", "wgrad"])
@pytest.mark.parametrize("dtype", cudnn.TYPES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_there_are_plans(architecture, dtype, direction):
    candidate = next(cudnn.candidates(case(direction, dtype), about(architecture), "B"), None)
    if architecture == 75 and cudnn.TYPES[dtype][0] == "BFLOAT16":
        assert candidate is None  # mxcy's own kernel computes them there
        return
    text = json.loads(candidate.text)
    assert text["GPUProfile"]["deviceVer"] == 10 * architecture
    assert text["engine"]["engineId"] == int(candidate.name.split("_")[0].removeprefix("eng"))
    assert [t["name"] for t in text["operationGraph"]["tensors"]].count("3") == 1


@pytest.mark.parametrize(
    ("note", "direction", "dtype"),
    [
        ("WINOGRAD", "fwd", 0),
        ("REDUCED_PRECISION_REDUCTION", "wgrad", 2),
        ("NONDETERMINISTIC", "wgrad", 0),
    ],
)
def test_notes_narrow_it_down(note, direction, dtype):
    """Only sm_75 has plans with all of these notes."""
    everything, left = names(direction, dtype, 75), names(direction, dtype, 75, note)
    assert left
    assert set(left) < set(everything)


@pytest.mark.parametrize("name", convolutions._ALLOWED)
def test_variables_name_notes(name, monkeypatch):
    """Including notes without plans: cuDNN 9 seems to have none by FFT."""
    note = convolutions._ALLOWED[name]
    monkeypatch.setenv("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "1")
    assert note not in convolutions._choice(None, case("fwd")).without
    monkeypatch.setenv(name, "0")
    assert note in convolutions._choice(None, case("fwd")).without


@pytest.mark.parametrize("direction", ["fwd", "dgrad", "wgrad"])
def test_engines(direction, monkeypatch):
    first = next(cudnn.candidates(case(direction), about(90), "B")).name.split("_")[0]
    variable = f"MXNET_CUDNN_DISABLED_CONV_{direction.upper()}_ENGINES"
    monkeypatch.setenv(variable, first.removeprefix("eng"))
    choice = convolutions._choice(None, case(direction))
    left = next(cudnn.candidates(case(direction), about(90), choice.mode, (), choice.engines))
    assert left.name.split("_")[0] != first
