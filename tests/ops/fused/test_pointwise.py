"""Fused elementwise programs: bit-identical to separate operators."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import REGISTRY, find
from mxcy.ops.fused import pointwise

INTERNAL = mx.nd._internal
UNARY = ["tanh", "sigmoid", "negative", "square", "relu", "_plus_scalar", "_rminus_scalar", "exp"]
BINARY = ["elemwise_add", "elemwise_mul", "broadcast_maximum", "broadcast_sub", "_hypot"]


def attrs_of(name, **given):
    record = find(name)
    attrs = record.schema.intern(name, given)
    return record.schema.filled(attrs, record.schema.dynamic_values(name, given))


def random_program(rng, count, length):
    """Steps (record, attributes, operands) over `count` inputs, and up to three outputs."""
    steps = []
    for number in range(length):
        values = count + number
        if rng.random() < 0.5:
            name = str(rng.choice(UNARY))
            scalar = {"scalar": float(rng.uniform(-1, 1))} if name.endswith("scalar") else {}
            operands = (int(rng.integers(values)),)
        else:
            name, scalar = str(rng.choice(BINARY)), {}
            operands = tuple(int(v) for v in rng.integers(values, size=2))
        # Keep exponentials in range.
        if name == "exp":
            steps.append((find("tanh"), attrs_of("tanh"), operands))
            continue
        steps.append((find(name), attrs_of(name, **scalar), operands))
    outputs = {count + length - 1, *(int(v) for v in rng.integers(count + length, size=2))}
    return steps, tuple(outputs)


def step_by_step(steps, outputs, arrays):
    values = list(arrays)
    for record, attrs, operands in steps:
        function = getattr(INTERNAL, record.name, None) or getattr(mx.nd, record.name)
        keywords = {name: getattr(attrs, name) for name in record.schema.names}
        values.append(function(*(values[o] for o in operands), **keywords))
    return [values[o].asnumpy() for o in outputs]


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_bits_as_separate_operators(seed, dtype):
    rng = np.random.default_rng(seed)
    count, shape = int(rng.integers(1, 5)), (int(rng.integers(1, 5)), int(rng.integers(1, 2500)))
    steps, outputs = random_program(rng, count, int(rng.integers(1, 20)))
    arrays = [mx.nd.array(rng.uniform(-1, 1, shape), dtype=dtype) for _ in range(count)]
    want = step_by_step(steps, outputs, arrays)
    program = pointwise.program_of(count, steps, outputs)
    record = find("_fused_pointwise")
    attrs = {"program": program, "num_args": count}
    outs, ran = front.execute(record, tuple(arrays), attrs, kernel="fused_pointwise")
    assert ran == "fused_pointwise"
    for got, values in zip(outs, want, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), values)
    # Every output may take over an input's memory.
    targets = [*arrays, *outs][: len(outs)]
    front.execute(record, tuple(arrays), attrs, outputs=targets, kernel="fused_pointwise")
    for got, values in zip(targets, want, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), values)


@pytest.mark.parametrize(
    "shape", [(1,), (7,), (4, 1, 1), (3, 4, 1, 1), (5, 7), (4, 5, 7), (1, 4, 5, 1), (3, 1, 1, 1)]
)
def test_repeated_inputs(shape):
    rng = np.random.default_rng(1)
    whole, part = rng.uniform(-1, 1, (3, 4, 5, 7)), rng.uniform(-1, 1, shape)
    program = "broadcast_mul 0 1; broadcast_sub 1 2; tanh 1; broadcast_add 3 4; -> 5"
    got = INTERNAL._fused_pointwise(
        mx.nd.array(whole, dtype="float64"),
        mx.nd.array(part, dtype="float64"),
        program=program,
        num_args=2,
    )
    want = (part - whole * part) + np.tanh(part)
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-14, atol=1e-14)


def test_inputs_may_come_back():
    a, b = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 4.0])
    attrs = {"program": "elemwise_add 0 1; -> 1 0 2", "num_args": 2}
    other = mx.nd.zeros((2,))
    front.execute(find("_fused_pointwise"), (a, b), attrs, outputs=[a, b, other])
    for got, want in ((a, [3, 4]), (b, [1, 2]), (other, [4, 6])):
        np.testing.assert_array_equal(got.asnumpy(), want)


def sample_calls():
    """(record, attributes) of all records declared elementwise."""
    for name, record in sorted({r.name: r for r in REGISTRY.values()}.items()):
        samples = record.samples() if callable(record.samples) else record.samples
        for sample in samples:
            keywords = dict(sample.attrs)
            if record.num_args:
                keywords.setdefault(record.num_args, len(sample.inputs))
            attrs = attrs_of(name, **keywords)
            if record.uses_mode:
                attrs = attrs.with_values(("train",), (False,))
            if record.pointwise(attrs):
                yield pytest.param(record, attrs, len(sample.inputs), id=f"{name}-{keywords}")
                break


@pytest.mark.parametrize("record, attrs, count", list(sample_calls()))
def test_every_elementwise_operator_is_an_instruction(record, attrs, count):
    specs = [Spec((3, 5), dtypes.code_of("float32"))] * count
    assert pointwise.fusible(record, attrs, specs, specs[:1])
    program = pointwise.program_of(count, [(record, attrs, range(count))], (count,))
    low, high = record.domain
    values = np.random.default_rng(2).uniform(low, high, (count, 3, 5)).astype("float32")
    outs, ran = front.execute(
        find("_fused_pointwise"),
        tuple(map(mx.nd.array, values)),
        {"program": program, "num_args": count},
        kernel="fused_pointwise",
    )
    assert ran == "fused_pointwise"
    want = (
        record.ref(attrs, np, list(values)) if record.variadic else record.ref(attrs, np, *values)
    )
    want = want[0] if isinstance(want, (tuple, list)) else want
    np.testing.assert_allclose(outs[0].asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_most_elementwise_records_can_be_steps():
    actual = {param.values[0].name for param in sample_calls()}
    assert {"exp", "_rdiv_scalar", "clip", "Activation", "LeakyReLU", "add_n"} <= actual
    assert len(actual) > 100
    assert "softmax" not in actual and "Dropout" not in actual and "Flatten" not in actual


def test_names_have_different_codes():
    names = set()
    for record in {id(r): r for r in REGISTRY.values()}.values():
        for kernel in record.kernels:
            if isinstance(kernel.name, str):
                names.add(kernel.name)
    names |= {"fill", "copy", "expand"}
    codes = {pointwise.name_code(name) for name in names}
    assert len(codes) == len(names)


def test_operators_that_are_not_fusible():
    f32, f16 = dtypes.code_of("float32"), dtypes.code_of("float16")
    add, softmax = find("broadcast_add"), find("softmax")
    plain = [Spec((2, 3), f32)] * 2
    assert pointwise.fusible(add, attrs_of("broadcast_add"), plain, plain[:1])
    halves = [Spec((2, 3), f16)] * 2
    assert not pointwise.fusible(add, attrs_of("broadcast_add"), halves, halves[:1])
    assert not pointwise.fusible(softmax, attrs_of("softmax"), plain[:1], plain[:1])
    gaps = [Spec((2, 3, 4), f32), Spec((2, 1, 4), f32)]
    assert not pointwise.fusible(add, attrs_of("broadcast_add"), gaps, gaps[:1])
    prelu = attrs_of("LeakyReLU", act_type="prelu").with_values(("train",), (False,))
    assert not pointwise.fusible(find("LeakyReLU"), prelu, plain, plain[:1])


def test_repeats():
    assert pointwise.repeats((2, 3), (2, 3)) == (0, 1)
    assert pointwise.repeats((), (2, 3)) == (1, 1)
    assert pointwise.repeats((3, 1, 1), (2, 3, 4, 5)) == (3, 20)
    assert pointwise.repeats((4, 5), (2, 3, 4, 5)) == (20, 1)
    assert pointwise.repeats((2, 1, 1, 5), (2, 3, 4, 5)) is None
    assert pointwise.repeats((2, 3), (3,)) is None


@pytest.mark.parametrize(
    "program, message",
    [
        ("tanh 0", "outputs"),
        ("tanh 1; -> 1", "undefined values"),
        ("tanh 0; -> 2", "outputs"),
        ("tanh 0; ->", "outputs"),
        ("tanh zero; -> 1", "program"),
        ("not_an_operator 0; -> 1", "not_an_operator"),
    ],
)
def test_unreadable_programs(program, message):
    with pytest.raises(mx.base.MXNetError, match=message):
        INTERNAL._fused_pointwise(mx.nd.zeros((2,)), program=program, num_args=1)


def test_long_programs_fall_back_to_the_reference():
    steps = [(find("_plus_scalar"), attrs_of("_plus_scalar", scalar=1.0), (i,)) for i in range(70)]
    program = pointwise.program_of(1, steps, (70,))
    got = INTERNAL._fused_pointwise(mx.nd.zeros((3,)), program=program, num_args=1)
    np.testing.assert_array_equal(got.asnumpy(), [70, 70, 70])
    with pytest.raises(mx.base.MXNetError, match="70 steps"):
        front.execute(
            find("_fused_pointwise"),
            (mx.nd.zeros((3,)),),
            {"program": program, "num_args": 1},
            kernel="fused_pointwise",
        )


def test_threads_agree():
    rng = np.random.default_rng(5)
    a, b = (mx.nd.array(rng.uniform(-1, 1, 200_001)) for _ in range(2))
    program = "elemwise_mul 0 1; tanh 2; elemwise_sub 3 0; -> 4 2"
    many = INTERNAL._fused_pointwise(a, b, program=program, num_args=2)
    few = [[], []]
    for begin in range(0, 200_001, 50_000):
        part = INTERNAL._fused_pointwise(
            a[begin : begin + 50_000], b[begin : begin + 50_000], program=program, num_args=2
        )
        for whole, piece in zip(few, part, strict=True):
            whole.append(piece.asnumpy())
    for got, want in zip(many, few, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), np.concatenate(want))


def test_outputs_larger_than_the_caches():
    n = (32 << 20) // 4 + 1001
    values = np.arange(n, dtype="float32") % 977
    a = mx.nd.array(values)
    program = "_plus_scalar 0 scalar=1.0; elemwise_mul 1 0; -> 2 1"
    outs = INTERNAL._fused_pointwise(a, program=program, num_args=1)
    np.testing.assert_array_equal(outs[0].asnumpy(), (values + 1) * values)
    np.testing.assert_array_equal(outs[1].asnumpy(), values + 1)
