"""The battery: every registered operator, by its own samples.

Every kernel against the reference, every way of storing the result, gradients against finite
differences, attributes as text, and the other front. An operator without samples fails.
"""

import contextlib
import zlib
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
import mxcy.ndarray.register
from mxcy import autograd
from mxcy._base import dtypes
from mxcy._library import front, onednn
from mxcy.base import MXNetError
from mxcy.ops.core import infer, prepare, reference
from mxcy.ops.core.record import REGISTRY, Op
from tests.each_sample import each_sample

with contextlib.suppress(ImportError):  # a build without Cython has fewer kernels
    import mxcy._cy.oplib
CYTHON = hasattr(mxcy, "_cy")
RECORDS = sorted({record.name: record for record in REGISTRY.values()}.items())
NULL, WRITE, ADD = 0, 1, 3
WIDER = {
    "float16": np.float32,
    "bfloat16": np.float32,
    "float32": np.float64,
    "complex64": np.complex128,
}
#: dtype of an output -> (relative, absolute) tolerance
TOLERANCE = {
    "float64": (1e-10, 1e-11),
    "complex64": (2e-5, 2e-6),
    "complex128": (1e-10, 1e-11),
    "float32": (2e-5, 2e-6),
    "float16": (4e-3, 4e-3),
    "bfloat16": (3e-2, 3e-2),
}


def samples_of(record):
    actual = record.samples() if callable(record.samples) else record.samples
    return list(actual)


def cases():
    """Samples with predictable results of the records that can be run from their inputs' shapes.

    A test takes all types of a sample: a test of each would take longer to set up than to run.
    """
    for name, record in RECORDS:
        if record.eager is None:
            for index, sample in enumerate(samples_of(record)):
                if not draws(record, sample):
                    yield pytest.param(record, sample, id=f"{name}-{index}")


def draws(record, sample):
    """Whether a sample's results are random."""
    if not record.uses_rng:
        return False
    attrs = record.schema.intern(record.name, sample.attrs)
    if record.uses_mode:
        attrs = attrs.with_values(("train",), (sample.train,))
    return record.draws(attrs)


def draw(record, sample, dtype):
    """The sample's inputs as NumPy arrays; bfloat16 as the record dtype of its bits."""
    rng = np.random.default_rng(zlib.crc32(f"{record.name}{sample.attrs}".encode()))
    made = []
    for source in sample.inputs:
        if isinstance(source, np.ndarray):
            made.append(source)
            continue
        values = source(rng) if callable(source) else fill(rng, source, record.domain, dtype)
        if callable(source) and values.dtype != np.float64:
            made.append(values)
        elif dtype == "bfloat16":
            made.append(reference.narrow(np.asarray(values, np.float32)).view(dtypes.bfloat16))
        else:
            made.append(np.asarray(values).astype(dtype))
    return made


def specs(record, sample, dtype):
    """Shapes and types of the sample's inputs."""
    if any(isinstance(source, np.ndarray) or callable(source) for source in sample.inputs):
        values = draw(record, sample, dtype)
        return [infer.Spec(v.shape, dtypes.code_of(v.dtype)) for v in values]
    return [infer.Spec(shape, dtypes.code_of(dtype)) for shape in sample.inputs]


def fill(rng, shape, domain, dtype):
    low, high = domain
    if dtype.startswith(("int", "uint", "bool")):
        low = max(low, 0) if dtype.startswith(("uint", "bool")) else low
        high = 2 if dtype == "bool" else max(high, low + 1)
        return rng.integers(int(np.ceil(low)), int(np.ceil(high)) + 1, shape)
    if dtype.startswith("complex"):
        return rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)
    return rng.uniform(low, high, shape)


def to_array(values):
    values = np.ascontiguousarray(values) if values.ndim else values
    return front.from_numpy(values, dtypes.code_of(values.dtype), mx.cpu())


def to_float(array):
    view = array.numpy_view()
    return (
        reference.widen(view) if dtypes.name_of(array.dtype_code) == "bfloat16" else np.array(view)
    )


def expected(record, sample, inputs):
    """The reference's results on the inputs in a wider type."""
    wide = []
    for values in inputs:
        if values.dtype == dtypes.bfloat16:
            values = reference.widen(values.view(np.uint16))
        wide.append(values.astype(WIDER.get(str(values.dtype), values.dtype)))
    attrs = full_attrs(record, sample)
    with np.errstate(all="ignore"):
        actual = record.ref(attrs, np, wide) if record.variadic else record.ref(attrs, np, *wide)
    return list(actual) if isinstance(actual, (tuple, list)) else [actual]


def full_attrs(record, sample):
    given = dict(sample.attrs)
    if record.num_args is not None:
        given.setdefault(record.num_args, len(sample.inputs))
    attrs = record.schema.intern(record.name, given)
    if record.uses_mode:
        attrs = attrs.with_values(("train",), (sample.train,))
    return record.schema.filled(attrs, record.schema.dynamic_values(record.name, given))


def attrs_of(record, sample):
    given = dict(sample.attrs)
    if record.num_args is not None:
        given.setdefault(record.num_args, len(sample.inputs))
    return given


def assert_close(got, want, dtype, factor, what):
    rtol, atol = TOLERANCE.get(dtype, (0, 0))
    scale = 1.0
    want = np.asarray(want)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    if rtol and want.size:
        finite = np.abs(want[np.isfinite(want)].astype(wide))
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            got.astype(wide),
            want.astype(wide),
            rtol=rtol * factor,
            atol=atol * factor * scale,
            err_msg=what,
        )


def choices(record, sample, inputs):
    """(kernel's name, kernel, reason for rejecting the sample or None) of each kernel."""
    attrs = record.schema.intern(record.name, attrs_of(record, sample))
    if record.uses_mode:
        attrs = attrs.with_values(("train",), (sample.train,))
    ins = [infer.Spec(v.shape, dtypes.code_of(v.dtype)) for v in inputs]
    outs = record.infer(attrs, ins)
    for kernel in record.kernels:
        name = kernel.name(attrs, ins, outs) if callable(kernel.name) else kernel.name
        dtype = kernel.select(ins, outs) if kernel.select else (ins or outs)[0].dtype
        reason = kernel.when(attrs, ins, outs) if kernel.when else None
        if reason is None and not front.has_kernel(name, dtype):
            reason = f"there is no {name} of {dtypes.name_of(dtype)}"
        elif reason is None and kernel.asks:
            params = kernel.params(attrs, ins, outs) if kernel.params else {}
            packed = kernel.struct.pack(**params) if kernel.struct else None
            reason = front.query(name, packed, ins, outs, "accepts")
        yield name, kernel, reason


def kernels_of(record, sample, inputs):
    """(name, inplace) of the native kernels that accept the sample."""
    return [
        (name, kernel.inplace)
        for name, kernel, reason in choices(record, sample, inputs)
        if reason is None
    ]


CROPS = "gpu/device/test_crops.py::test_fixed_crops_are_those_of_the_cpu"
#: a rejection that no sample can avoid -> the test that reaches such kernels
REACHED_ELSEWHERE = {
    "accumulation is in a wider dtype": "env/test_numerics.py::test_safe_accumulation",
    "there is no image_random_crop of uint8": CROPS,
    "there is no image_random_resized_crop of uint8": CROPS,
    "the weights are plain": "ops/fused/test_fused.py::test_packed_weights_give_the_same",
    "the weights stay plain": "ops/fused/test_fused.py::test_packed_weights_give_the_same",
}


@pytest.mark.parametrize("name, record", RECORDS)
def test_every_kernel_accepts_a_sample(name, record):
    """A kernel that no sample reaches is compared with nothing."""
    refusals = {kernel: set() for kernel in record.kernels}
    for sample in samples_of(record):
        for dtype in sample.dtypes or record.dtypes:
            for _, kernel, reason in choices(record, sample, draw(record, sample, dtype)):
                refusals[kernel].add(reason)
    for position, reasons in enumerate(refusals.values()):
        reached = None in reasons or reasons & REACHED_ELSEWHERE.keys()
        # some kernels are for the widest vectors alone, or for products of bfloat16; oneDNN's, too
        limited = front.block() < 16 or not front.has_kernel(
            "attention_bf16", dtypes.code_of("bfloat16")
        )
        absent = ("there is no", "unimplemented") if limited else ()
        missing = (
            not CYTHON
            or any(text in str(reason) for text in absent for reason in reasons)
            or (onednn.version() is None and any("_onednn" in str(reason) for reason in reasons))
        )
        assert reached or missing, f"kernel {position} of {name} accepts no sample: {reasons}"


def test_tests_of_unsampled_kernels_exist():
    for test in REACHED_ELSEWHERE.values():
        path, _, function = test.partition("::")
        assert f"def {function}(" in (Path(__file__).parents[1] / path).read_text()


@pytest.mark.parametrize("name, record", RECORDS)
def test_has_samples_docs_and_types(name, record):
    assert samples_of(record), f"{name} has no samples"
    assert record.doc.strip(), f"{name} has no documentation"
    assert all(field.text for field in record.schema.fields)


@each_sample(cases())
def test_kernels_against_reference(record: Op, sample):
    for dtype in sample.dtypes or record.dtypes:
        compare_kernels(record, sample, dtype)


def compare_kernels(record, sample, dtype):
    inputs = draw(record, sample, dtype)
    want = expected(record, sample, inputs)
    attrs = attrs_of(record, sample)
    for kernel, inplace in [*kernels_of(record, sample, inputs), ("ref", False)]:
        arrays = tuple(to_array(v) for v in inputs)
        outs, ran = front.execute(record, arrays, attrs, kernel=kernel, train=sample.train)
        assert ran == kernel
        got = [*outs, *(arrays[i] for i in record.mutated(len(arrays)))]
        assert len(got) == len(want)
        for i, (array, values) in enumerate(zip(got, want, strict=True)):
            assert array.shape == np.shape(values)
            kind = dtypes.name_of(array.dtype_code)
            narrowest = max((kind, dtype), key=lambda k: TOLERANCE.get(k, (0, 0)))
            kind = narrowest if kind in TOLERANCE else kind
            assert_close(to_float(array), values, kind, sample.tol, f"{dtype}: {kernel} output {i}")
        if record.mutated(len(arrays)):
            continue
        # Accumulate on the first output, skip it, and write over the first input.
        base = [to_array(np.array(o.numpy_view())) if dtype != "bfloat16" else o for o in outs]
        if dtype in ("float32", "float64") and len(outs) == 1 and base[0].dtype_code in (0, 1):
            twice, _ = front.execute(
                record, arrays, attrs, outputs=base, reqs=[ADD], kernel=kernel, train=sample.train
            )
            assert_close(
                to_float(twice[0]), 2 * to_float(outs[0]), dtype, sample.tol, f"{kernel} add"
            )
            kept = np.array(base[0].numpy_view())
            front.execute(
                record, arrays, attrs, outputs=base, reqs=[NULL], kernel=kernel, train=sample.train
            )
            np.testing.assert_array_equal(base[0].numpy_view(), kept)
        if inplace and len(outs) == 1 and arrays[0].shape == outs[0].shape:
            if arrays[0].dtype_code == outs[0].dtype_code:
                before = to_float(outs[0])
                front.execute(
                    record, arrays, attrs, outputs=[arrays[0]], kernel=kernel, train=sample.train
                )
                np.testing.assert_array_equal(to_float(arrays[0]), before)


def differentiable(record):
    return record.differentiable and "float64" in record.dtypes


def gradient_cases():
    for name, record in RECORDS:
        if differentiable(record):
            for index, sample in enumerate(samples_of(record)):
                if draws(record, sample) or not sample.grad:
                    continue
                if "float64" in (sample.dtypes or record.dtypes):
                    yield pytest.param(record, sample, id=f"{name}-{index}")


def call_eagerly(record, arrays, sample):
    function = mxcy.ndarray.register.function(record)
    actual = function(*arrays, **sample.attrs)
    return actual if isinstance(actual, list) else [actual]


@each_sample(gradient_cases())
def test_gradient_against_finite_differences(record, sample):
    inputs = draw(record, sample, "float64")
    floats = [
        i
        for i, v in enumerate(inputs)
        if v.dtype == np.float64 and i not in record.mutated(len(inputs))
    ]
    weights = None

    def loss(values):
        arrays = [to_array(v) for v in values]
        with autograd.record(train_mode=sample.train):
            with autograd.pause(train_mode=sample.train):
                outs = call_eagerly(record, arrays, sample)
        return sum(float((o.numpy_view() * w).sum()) for o, w in zip(outs, weights, strict=True))

    arrays = [to_array(v) for v in inputs]
    grads = [to_array(np.zeros_like(inputs[i])) for i in floats]
    autograd.mark_variables([arrays[i] for i in floats], grads)
    with autograd.record(train_mode=sample.train):
        outs = call_eagerly(record, arrays, sample)
    rng = np.random.default_rng(3)
    weights = [rng.uniform(0.5, 1.5, o.shape) for o in outs]
    heads = [o for o in outs if o.node is not None]
    head_weights = [to_array(w) for o, w in zip(outs, weights, strict=True) if o.node is not None]
    if not heads:
        return
    weights = [w if o.node is not None else 0 * w for o, w in zip(outs, weights, strict=True)]
    try:
        autograd.backward(heads, head_weights, train_mode=sample.train)
    except MXNetError as refusal:
        assert "no gradient" in str(refusal)
        return
    step = 1e-6
    for i, grad in zip(floats, grads, strict=True):
        flat = inputs[i].reshape(-1)
        chosen = rng.permutation(flat.size)[:6]
        for position in chosen:
            kept = flat[position]
            flat[position] = kept + step
            above = loss(inputs)
            flat[position] = kept - step
            below = loss(inputs)
            flat[position] = kept
            want = (above - below) / (2 * step)
            got = grad.numpy_view().reshape(-1)[position]
            assert abs(got - want) <= 1e-5 * sample.tol * max(1.0, abs(want)), (
                f"input {record.input_names(len(inputs))[i]}[{position}]: {got}, expected {want}"
            )


@pytest.mark.parametrize("name, record", RECORDS)
def test_attributes_survive_as_text(name, record):
    for sample in samples_of(record):
        given = attrs_of(record, sample)
        texts = {key: str(value) for key, value in given.items() if not isinstance(value, type)}
        assert record.schema.intern(name, {**given, **texts}) is record.schema.intern(name, given)
        assert record.schema.dynamic_values(
            name, {**given, **texts}
        ) == record.schema.dynamic_values(name, given)


@each_sample(cases())
def test_inference_with_unknown_shapes(record, sample):
    """A rule must not fail on unknown inputs, only say less."""
    attrs = record.schema.intern(record.name, attrs_of(record, sample))
    if record.uses_mode:
        attrs = attrs.with_values(("train",), (sample.train,))
    partial = record.infer(attrs, [infer.Spec(None, None) for _ in sample.inputs])
    for dtype in sample.dtypes or record.dtypes:
        full = record.infer(attrs, specs(record, sample, dtype))
        for some, whole in zip(partial, full, strict=True):
            whole.fill("output", some.shape, some.dtype)  # raises when they contradict


def test_prepare_names_operator_and_argument():
    record = REGISTRY["broadcast_add"]
    attrs = record.schema.intern(record.name, {})
    specs = [infer.Spec((2, 3), 0), infer.Spec((4,), 0)]
    with pytest.raises(mx.base.MXNetError, match=r"broadcast_add.*lhs.*rhs"):
        prepare.prepare(record, attrs, specs, lambda name, dtype: True)
