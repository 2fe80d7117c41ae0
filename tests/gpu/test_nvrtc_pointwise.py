"""NVRTC compiles pointwise kernels for all architectures, without register spills."""

import pytest

from mxcy.gpu.elementwise import pointwise
from mxcy.gpu.table import Request
from mxcy.ops.fused.pointwise import MAX_INPUTS, MAX_OUTPUTS, MAX_STEPS
from tests.gpu.nvrtc import ARCHITECTURES, SPEC, compiles_without_spills, needs_nvrtc

pytestmark = [needs_nvrtc, pytest.mark.timeout(900)]


def every_line(dtype):
    """Return a source with every line of elemwise.def that supports a dtype."""
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
    compiles_without_spills(every_line(dtype), architecture)


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
    compiles_without_spills(launch.text, architecture)


#: numbers of inputs, outputs and steps
SIZES = ((8, 2, 30), (8, 8, MAX_STEPS), (MAX_INPUTS, 1, 20), (MAX_INPUTS, MAX_OUTPUTS, MAX_STEPS))


def program(dtype, inputs, outputs, count):
    """Return the source of a program whose steps use values from far before."""
    computed = "double" if dtype == 1 else "float"
    functions = "tanh", "sigmoid", "exp", "log", "sqrt"
    steps, names = [], [f"v{i}" for i in range(inputs)]
    for number in range(count):
        call = (
            (functions[number // 3 % 5], names[-1:]),
            ("mul", [names[-1], names[number % inputs]]),
            ("add", [names[-1], names[7 * number % len(names)]]),
        )[number % 3]
        steps.append((f"t{number}", f"k_{call[0]}<{computed}>({', '.join(call[1])})"))
        names.append(steps[-1][0])
    results = [names[-1 - i * (count // outputs)] for i in range(outputs)]
    ins, outs = [SPEC[dtype]] * inputs, [SPEC[dtype]] * outputs
    forms = ["each"] * inputs
    return pointwise.pointwise_launch(ins, outs, computed, steps, results, forms, []).text


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1, 2])
def test_programs_of_many_operands(architecture, dtype):
    for size in SIZES:
        compiles_without_spills(program(dtype, *size), architecture)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1, 2])
def test_sums_of_many_arrays(architecture, dtype):
    spec = SPEC[dtype]
    for count in (8, 17, 33, 48):
        request = Request("add_n", dtype, {}, {}, None, [spec] * count, [spec])
        (launch,) = pointwise.add_n(request)
        compiles_without_spills(launch.text, architecture)
