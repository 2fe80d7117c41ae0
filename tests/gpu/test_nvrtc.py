"""The texts of our kernels are CUDA: NVRTC takes them for all architectures, without spills."""

import pytest

from mxcy.gpu import pointwise
from mxcy.gpu.compile import Nvrtc, compiler
from mxcy.ops.core.infer import Spec

ARCHITECTURES = (75, 80, 90, 100)
SPEC = {0: Spec((1000,), 0), 1: Spec((1000,), 1), 2: Spec((1000,), 2), 6: Spec((1000,), 6)}

if not isinstance(compiler(), Nvrtc):
    reason = "NVRTC is not installed; pip install nvidia-cuda-nvrtc"
    pytest.skip(reason, allow_module_level=True)


def every_line(dtype):
    """The text that computes every line of elemwise.def that takes an element type."""
    steps = []
    for name, (macro, types) in pointwise._lines().items():
        computed = pointwise._computed(dtype, types)
        if computed is None or (types == "REAL" and dtype == 6):
            continue
        operands = {"MX_UNARY2": "v0, v1, v2"}.get(
            macro, "v0" if macro.startswith("MX_UNARY") else "v0, v1"
        )
        before = steps[-1][0] if steps else "v0"
        text = f"k_{name}<{computed}>({operands})"
        steps.append((f"t{len(steps)}", f"k_add<{computed}>({before}, {text})"))
    ins, forms = [SPEC[dtype]] * 3, ["each", "one", (10, 3)]
    return pointwise.pointwise_launch(
        ins, [SPEC[dtype]], computed, steps, [steps[-1][0]], forms, [(1.0, None)]
    ).text


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 2, 6])
def test_lines(architecture, dtype):
    image, _, _ = compiler().compile(every_line(dtype), architecture)
    assert image.startswith(b"\x7fELF")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_a_usual_program_spills_nothing(architecture, dtype):
    computed = "float" if dtype == 0 else "double"
    steps = [
        ("t0", f"k_sigmoid<{computed}>(v0)"),
        ("t1", f"k_mul<{computed}>(t0, v1)"),
        ("t2", f"k_tanh<{computed}>(t1)"),
        ("t3", f"k_add<{computed}>(t2, s0)"),
    ]
    ins = [SPEC[dtype]] * 2
    launch = pointwise.pointwise_launch(
        ins, [SPEC[dtype]], computed, steps, ["t3"], ["each", "each"], [(1.0, None)]
    )
    _, _, log = compiler().compile(launch.text, architecture, ["-Xptxas=-v"])
    assert "registers" in log
    for line in log.splitlines():
        if "spill" in line:
            assert "0 bytes spill stores, 0 bytes spill loads" in line


def test_copies():
    from mxcy.gpu.copying import _strided

    for text in (_strided("unsigned", 3), _strided("Half", 2, constant=True)):
        image, _, _ = compiler().compile(text, 90)
        assert image.startswith(b"\x7fELF")


def test_refused_text():
    from mxcy.base import MXNetError

    with pytest.raises(MXNetError, match="unknown"):
        compiler().compile('extern "C" __global__ void f() { unknown; }', 90)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lines_of_elements(architecture):
    from mxcy.gpu.lines import reduce, softmax
    from mxcy.gpu.table import Request

    data = Spec((4, 300), 0)
    values = {"outer": 4, "extent": 300, "inner": 1, "scale": 1.0}
    launches = [
        *softmax(Request("softmax", 0, values, {}, None, [data], [data])),
        *softmax(Request("log_softmax_grad", 0, values, {}, None, [data, data], [data])),
    ]
    values = {"ndim": 2, "first_reduced": 0, "shape": [4, 300]}
    for name in ("mean", "max"):
        request = Request(name, 0, values, {}, None, [data], [Spec((4,), 0)])
        launches += reduce(request)
    for launch in launches:
        image, _, _ = compiler().compile(launch.text, architecture)
        assert image.startswith(b"\x7fELF")
