"""oneDNN's kernels compared with ours for the same operators, with one thread (float32)."""

import pytest

from mxcy._library import front, onednn
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import prepare
from mxcy.ops.core.record import find

if onednn.version() is None:
    pytest.skip("oneDNN is not installed", allow_module_level=True)

_CONV = dict(kernel=(3, 3), pad=(1, 1), num_filter=64)
_BACK = {**_CONV, "stride": (1, 1), "dilate": (1, 1)}
_POOL = dict(kernel=(3, 3), stride=(2, 2), pad=(1, 1))
#: operator, shapes of its inputs, attributes
CASES = [
    ("Convolution", [(4, 64, 56, 56), (64, 64, 3, 3)], {**_CONV, "no_bias": True}),
    (
        "Convolution",
        [(1, 3, 224, 224), (64, 3, 7, 7)],
        dict(kernel=(7, 7), stride=(2, 2), pad=(3, 3), num_filter=64, no_bias=True),
    ),
    ("_conv_data", [(4, 64, 56, 56), (64, 64, 3, 3)], {**_BACK, "spatial": (56, 56)}),
    ("_conv_weight", [(4, 64, 56, 56), (4, 64, 56, 56)], _BACK),
    ("FullyConnected", [(3, 4096), (1000, 4096), (1000,)], dict(num_hidden=1000)),
    ("Pooling", [(1, 64, 112, 112)], _POOL),
    ("Pooling", [(1, 64, 112, 112)], {**_POOL, "pool_type": "avg"}),
    ("_blocked_pooling", [(1, 12, 35, 35, 16)], dict(kernel=(3, 3), pad=(1, 1))),
    ("BatchNorm", [(4, 64, 56, 56)] + [(64,)] * 4, dict(fix_gamma=False)),
    ("LayerNorm", [(2048, 512), (512,), (512,)], {}),
    ("softmax", [(2048, 512)], {}),
    ("log_softmax", [(512, 64)], {}),
    ("_blocked_lrn", [(1, 6, 55, 55, 16)], dict(nsize=5)),
    ("dot", [(3136, 256), (256, 64)], {}),
    ("batch_dot", [(96, 128, 64), (96, 128, 64)], dict(transpose_b=True)),
    ("Activation", [(1024, 1024)], dict(act_type="tanh")),
    ("add_n", [(1024, 1024)] * 3, dict(num_args=3)),
    ("Concat", [(4, 64, 56, 56)] * 3, dict(num_args=3)),
    ("_to_blocked", [(4, 64, 56, 56)], dict(block=16)),
]
BUDGET = 20_000_000  # nanoseconds per kernel and round


def prepared(record, shapes, attrs):
    """Prepare a call for each kernel that accepts the operator; returns them by name."""
    values = record.schema.intern(record.name, attrs)
    if record.uses_mode:
        values = values.with_values(("train",), (True,))
    ins = [Spec(shape, 0) for shape in shapes]
    outs = record.infer(values, ins)
    calls = {}
    for kernel in record.kernels:
        name = kernel.name(values, ins, outs) if callable(kernel.name) else kernel.name
        if (kernel.when is None or kernel.when(values, ins, outs) is None) and name not in calls:
            calls[name] = prepare(record, values, ins, front, force=name)
    return calls


def time(call):
    """Time a run in nanoseconds."""
    return front.measure(
        call.kernel, call.dtype, call.params, call.ins, call.outs, call.workspace, call.work, BUDGET
    )


@pytest.fixture(scope="module")
def rows(announce):
    """Lines of the final table."""
    lines = []
    yield lines
    announce("kernels: the one in use, and the others", lines)


@pytest.fixture(autouse=True)
def one_thread():
    """Compare kernels on one thread; restore the library's team afterwards."""
    before = front.set_threads(1)
    yield
    front.set_threads(before)


@pytest.mark.parametrize("name, shapes, attrs", CASES)
def test_kernels(benchmark, rows, name, shapes, attrs):
    calls = prepared(find(name), shapes, attrs)
    times = {kernel: min(time(call) for _ in range(3)) for kernel, call in calls.items()}
    best, *others = times
    line = f"{name:18} {shapes[0]!s:20} {best} {times[best] / 1e3:.0f} us"
    rows.append(line + "".join(f", {k} x {times[k] / times[best]:.2f}" for k in others))
    benchmark.extra_info.update(times)
    benchmark.pedantic(time, (calls[best],), rounds=1)
