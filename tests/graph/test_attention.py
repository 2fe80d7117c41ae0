"""Attention becomes one operator, in inference and in training."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import npx
from mxcy.graph.builder import Builder
from mxcy.graph.passes import attention
from mxcy.graph.verify import verify
from tests.graph.graphs import spec, target

STEPS, BATCH, HEADS, DEPTH = 5, 2, 3, 4
WIDTH = HEADS * DEPTH
SETTINGS = {"MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT": False}


# --- what programs write -------------------------------------------------------------------------


def by_heads(x):
    """(batch, steps, width) as (batch, heads, steps, depth)."""
    return mx.sym.transpose(mx.sym.reshape(x, shape=(0, 0, HEADS, -1)), axes=(0, 2, 1, 3))


def flat(x):
    """The heads of all samples in one dimension."""
    return mx.sym.reshape(x, shape=(-3, 0, 0))


def joined(x):
    """(batch, heads, steps, depth) as (batch, steps, width)."""
    x = mx.sym.reshape(x, shape=(-4, -1, HEADS, 0, 0))
    return mx.sym.reshape(mx.sym.transpose(x, axes=(0, 2, 1, 3)), shape=(0, 0, -1))


def weigh(scores, value, **shapes):
    return joined(mx.sym.batch_dot(mx.sym.softmax(scores), value)), shapes


def projected(name):
    return flat(by_heads(mx.sym.var(name)))


def interleaved():
    x = mx.sym.var("x")
    scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(x, heads=HEADS)
    weights = mx.sym.Dropout(mx.sym.softmax(scores, axis=-1), p=0)
    out = mx.sym.contrib.interleaved_matmul_selfatt_valatt(x, weights, heads=HEADS)
    return out, {"x": (STEPS, BATCH, 3 * WIDTH)}


def interleaved_length():
    x, length = mx.sym.var("x"), mx.sym.cast(mx.sym.var("length"), dtype="int32")
    scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(x, heads=HEADS)
    weights = mx.sym.softmax(scores, length, use_length=True, axis=-1)
    out = mx.sym.contrib.interleaved_matmul_selfatt_valatt(x, weights, heads=HEADS)
    return out, {"x": (STEPS, BATCH, 3 * WIDTH), "length": (BATCH * HEADS, STEPS)}


def interleaved_across():
    q, kv = mx.sym.var("q"), mx.sym.var("kv")
    scores = mx.sym.contrib.interleaved_matmul_encdec_qk(q, kv, heads=HEADS)
    out = mx.sym.contrib.interleaved_matmul_encdec_valatt(kv, mx.sym.softmax(scores), heads=HEADS)
    return out, {"q": (STEPS, BATCH, WIDTH), "kv": (7, BATCH, 2 * WIDTH)}


def of_three():
    query, key, value = (projected(name) for name in "qkv")
    scores = mx.sym.batch_dot(query, key, transpose_b=True) / 2
    return weigh(scores, value, **dict.fromkeys("qkv", (BATCH, STEPS, WIDTH)))


def of_one_split():
    parts = mx.sym.split(mx.sym.var("x"), num_outputs=3, axis=2)
    query, key, value = (flat(by_heads(parts[i])) for i in range(3))
    scores = mx.sym.batch_dot(query * 0.5, key, transpose_b=True)
    return weigh(scores, value, x=(BATCH, STEPS, 3 * WIDTH))


def of_the_same_array():
    x = projected("x")
    return weigh(mx.sym.batch_dot(x, x, transpose_b=True), x, x=(BATCH, STEPS, WIDTH))


def with_added_mask():
    query, key, value = (projected(name) for name in "qkv")
    scores = mx.sym.reshape(
        mx.sym.batch_dot(query, key, transpose_b=True), shape=(-4, -1, HEADS, 0, 0)
    )
    mask = mx.sym.reshape(mx.sym.BlockGrad(mx.sym.var("mask")), shape=(-1, 1, 1, STEPS))
    scores = mx.sym.broadcast_add(scores / 2, (1 - mask) * -10000.0)
    out = mx.sym.batch_dot(flat(mx.sym.softmax(scores, axis=3)), value)
    shapes = dict.fromkeys("qkv", (BATCH, STEPS, WIDTH))
    return joined(out), {**shapes, "mask": (BATCH, STEPS)}


def with_masked_softmax():
    query, key, value = (projected(name) for name in "qkv")
    scores = mx.sym.reshape(
        mx.sym.batch_dot(query, key, transpose_b=True), shape=(-4, -1, HEADS, 0, 0)
    )
    mask = mx.sym.reshape(mx.sym.var("mask") > 0, shape=(-1, 1, 1, STEPS))
    weights = mx.sym.masked_softmax(scores, mx.sym.cast(mask, "int32"), temperature=2.0)
    shapes = dict.fromkeys("qkv", (BATCH, STEPS, WIDTH))
    return joined(mx.sym.batch_dot(flat(weights), value)), {**shapes, "mask": (BATCH, STEPS)}


def transposed_result():
    query, key, value = (projected(name) for name in "qkv")
    weights = mx.sym.softmax(mx.sym.batch_dot(query, key, transpose_b=True))
    out = mx.sym.batch_dot(value, weights, transpose_a=True, transpose_b=True)  # values' weights'
    return mx.sym.swapaxes(out, 1, 2), dict.fromkeys("qkv", (BATCH, STEPS, WIDTH))


PROGRAMS = (
    interleaved,
    interleaved_length,
    interleaved_across,
    of_three,
    of_one_split,
    of_the_same_array,
    with_added_mask,
    with_masked_softmax,
    transposed_result,
)


def arrays_for(shapes, dtype):
    rng = np.random.default_rng(1)
    made = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    for name in made.keys() & {"mask"}:
        made[name] = rng.integers(0, 2, shapes[name])
        made[name][:, 0] = 1
    for name in made.keys() & {"length"}:
        made[name] = rng.integers(0, STEPS + 2, shapes[name])
    return {name: mx.nd.array(value, dtype=dtype) for name, value in made.items()}


def operators(executor):
    lines = [line for line in executor.debug_str().splitlines() if " by " in line]
    return [line.split(": ")[1].split(" by ")[0] for line in lines]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_predictions_stay(monkeypatch, program, dtype):
    symbol, shapes = program()
    arrays = arrays_for(shapes, dtype)

    def run():
        executor = symbol.bind(mx.cpu(), arrays, grad_req="null")
        return executor.forward()[0].asnumpy(), operators(executor)

    actual, kinds = run()
    assert kinds.count("_attention") == 1
    assert not {"batch_dot", "softmax", "_strided_dot", "transpose"} & {*kinds}
    monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "NONE")
    expected, kinds = run()
    assert "_attention" not in kinds
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_stay(monkeypatch, program, dtype):
    symbol, shapes = program()
    arrays = arrays_for(shapes, dtype)
    constant = {"mask", "length"}

    def run():
        requests = {name: "null" if name in constant else "write" for name in arrays}
        grads = {name: mx.nd.zeros_like(a) for name, a in arrays.items() if name not in constant}
        executor = symbol.bind(mx.cpu(), arrays, args_grad=grads, grad_req=requests)
        out = executor.forward(is_train=True)[0]
        head = np.random.default_rng(2).normal(size=out.shape)
        executor.backward(mx.nd.array(head, dtype=dtype))
        return [out.asnumpy(), *(grads[name].asnumpy() for name in sorted(grads))], executor

    actual, executor = run()
    kinds = operators(executor)
    assert kinds.count("_attention") == kinds.count("_attention_grad") == 1
    assert not {"batch_dot", "softmax", "_softmax_grad", "_strided_dot"} & {*kinds}
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    expected, executor = run()
    assert "_attention" not in operators(executor)
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


# --- programs of NumPy's interface ---------------------------------------------------------------


class Attention(mx.gluon.HybridBlock):
    """Self-attention as d2l and GluonNLP write it."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.project = mx.gluon.nn.Dense(3 * WIDTH, flatten=False, in_units=WIDTH)
        self.dropout = mx.gluon.nn.Dropout(dropout)

    def forward(self, x, mask):
        def heads(part):
            return part.reshape(-2, -2, HEADS, DEPTH).transpose(0, 2, 1, 3)

        query, key, value = map(heads, mx.np.split(self.project(x), 3, axis=-1))
        scores = mx.np.matmul(query, mx.np.swapaxes(key, -1, -2)) / DEPTH**0.5
        weights = self.dropout(npx.masked_softmax(scores, mask, axis=-1))
        out = mx.np.matmul(weights, value).transpose(0, 2, 1, 3)
        return out.reshape(-2, -2, WIDTH)


@pytest.fixture
def numpy_semantics():
    npx.set_np()
    yield
    npx.reset_np()


@pytest.mark.usefixtures("numpy_semantics")
def test_numpy_programs(monkeypatch, capfd):
    x = mx.np.random.normal(size=(BATCH, STEPS, WIDTH))
    mask = mx.np.ones((BATCH, 1, STEPS, STEPS), dtype=bool)
    mask[1, 0, :, 3:] = False
    net = Attention()
    net.initialize(mx.init.Xavier())

    def run():
        with mx.autograd.record():
            out = net(x, mask)
        out.backward()
        predicted = net(x, mask)
        grads = [p.grad().asnumpy() for p in net.collect_params().values()]
        return [out.asnumpy(), predicted.asnumpy(), *grads]

    expected = run()
    net.hybridize()
    monkeypatch.setenv("MXCY_VERBOSE", "passes")
    actual = run()
    assert "_attention 0 -> 1" in capfd.readouterr().out
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


# --- where it must not happen --------------------------------------------------------------------


def graph_of(make, *shapes, wanted=("x",), **settings):
    """The graph built by `make`, before and after the pass."""
    b = Builder(True)
    values = [
        b.value(b.variable(name, spec(*shape))) for name, shape in zip("xyz", shapes, strict=False)
    ]
    made = make(b.values, *values)
    made = made if isinstance(made, list) else [made]
    graph = b.finish([value.entry for value in made])
    after = attention.run(graph, target(**{**SETTINGS, **settings}), wanted)
    return graph, verify(after, "attention")


def scores_of(F, x):
    return F.batch_dot(x, x, transpose_b=True)


def plain(F, x):
    return F.batch_dot(F.softmax(scores_of(F, x)), x)


def test_it_happens():
    graph, after = graph_of(plain, (2, 3, 4))
    assert after.count_ops()["_attention"] == 1 and len(after.nodes) < len(graph.nodes)


def left_alone(make, *shapes, **settings):
    graph, after = graph_of(make, *shapes, **settings)
    return after is graph


def test_it_can_be_switched_off():
    assert left_alone(plain, (2, 3, 4), MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT=True)


def test_results_with_other_readers_are_kept():
    def with_weights(F, x):
        weights = F.softmax(scores_of(F, x))
        return [F.batch_dot(weights, x), weights]

    def with_scores(F, x):
        scores = scores_of(F, x)
        return [F.batch_dot(F.softmax(scores), x), scores]

    assert left_alone(with_weights, (2, 3, 4))
    assert left_alone(with_scores, (2, 3, 4))


@pytest.mark.parametrize(
    "make",
    [
        lambda F, x: F.batch_dot(F.softmax(scores_of(F, x), axis=1), x),
        lambda F, x: F.batch_dot(F.softmax(F.sin(scores_of(F, x))), x),
        lambda F, x: F.batch_dot(F.softmax(scores_of(F, x)), x, transpose_a=True),
        lambda F, x: F.batch_dot(F.softmax(scores_of(F, x)) * 2, x),
        lambda F, x: F.batch_dot(
            F.softmax((scores_of(F, x) + F.ones_like(scores_of(F, x))) * 2), x
        ),
        lambda F, x: F.softmax(scores_of(F, x)),
        lambda F, x: F.batch_dot(F.Dropout(F.softmax(scores_of(F, x)), p=0.5), x),
    ],
)
def test_other_patterns_are_not_fused(make):
    assert left_alone(make, (2, 4, 4))


def biased(F, x, y):
    return F.batch_dot(F.softmax(F.broadcast_add(scores_of(F, x), y)), x)


def test_masks_that_are_learned_stay():
    shapes = (2, 3, 4), (1, 3, 3)
    assert left_alone(biased, *shapes, wanted=("x", "y"))
    _, after = graph_of(biased, *shapes)
    assert after.count_ops()["_attention"] == 1


def test_gradients_of_gradients_refuse_by_name():
    x = mx.nd.ones((3, 2, 6))
    sizes = (2, 1, 3, 3, 2, 2)
    place = (6, 6, 12)
    attrs = {"sizes": sizes, "sources": (0, 0, 0), "shape": (3, 2, 2), "out_place": (0, 2, 2, 4)}
    attrs |= {f"{name}_place": (2 * i, *place) for i, name in enumerate(("query", "key", "value"))}
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd._internal._attention(x, **attrs)
        (slope,) = mx.autograd.grad([y], [x], create_graph=True)
        total = (slope * slope).sum()
    with pytest.raises(mx.MXNetError, match="_attention_grad: it has no gradient"):
        total.backward()


def test_cached_operators_can_be_differentiated_twice():
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            scores = F.batch_dot(x, x, transpose_b=True)
            return F.batch_dot(F.softmax(scores), x)

    results = []
    for hybrid in (False, True):
        net = Net()
        if hybrid:
            net.hybridize()
        x = mx.nd.array(np.random.default_rng(0).normal(size=(2, 3, 4)), dtype="float64")
        x.attach_grad()
        with mx.autograd.record():
            (slope,) = mx.autograd.grad([net(x).sum()], [x], create_graph=True)
            total = (slope * slope).sum()
        total.backward()
        results.append(x.grad.asnumpy())
    np.testing.assert_allclose(*results, rtol=1e-10)


def test_lengths_may_be_any_number():
    query, key, value = (mx.nd.random.uniform(shape=(1, rows, 2)) for rows in (4, 3, 3))
    attrs = {"sizes": (1, 1, 4, 3, 2, 2), "sources": (0, 1, 2), "shape": (1, 4, 2)}
    attrs |= {"query_place": (0, 0, 8, 2), "out_place": (0, 0, 8, 2), "mask_place": (0, 0, 1, 0)}
    attrs |= {"key_place": (0, 0, 6, 2), "value_place": (0, 0, 6, 2), "masking": "length"}
    results = [
        mx.nd._internal._attention(query, key, value, mx.nd.array(lengths, dtype="int64"), **attrs)
        for lengths in ((-(2**63), -1, 2, 2**62), (0, 0, 2, 3))
    ]
    np.testing.assert_array_equal(*(result.asnumpy() for result in results))
