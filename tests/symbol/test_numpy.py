"""`mx.sym.np` and `mx.sym.npx`: symbols and arrays compute the same."""

import json

import numpy as onp
import pytest

import mxcy as mx
from mxcy import gluon, np, npx

X = onp.array([[1.5, -2, 3], [0.25, 5, -6]], "float32")
Y = onp.array([[2, 1, -3], [4, 0.5, 1]], "float32")

#: expressions over arrays, or symbols, x and y, and namespaces np and npx
SAME = """
x + y; x - 1; 2 - x; x * y; x / 2; 3 / y; x % 2; 7 % y; x // y; 5 // y; y ** 2; 2 ** x; -x; abs(x)
+x; x @ y.T; x == y; x != 1.5; x < y; x <= 3; x > y; x >= 0; round(x); (x > 0) & (y > 0)
(x > 0) | (y > 0); (x > 0) ^ (y > 0); ~(x > 0); divmod(x, 2); divmod(9, y); x[0]; x[-1]; x[1, -2]
x[1:]; x[:, ::2]; x[::-1]; x[..., ]; x[None]; x[:, None, 1]; x[0, None]; x[()]; x.T; x.sum()
x.sum(axis=1, keepdims=True); x.mean(axis=(0, 1)); x.std(); x.var(axis=0, ddof=1); x.prod()
x.max(0); x.min(); x.argmax(1); x.argmin(0); x.cumsum(1); x.all(); x.any(axis=0); x.reshape(-1, 2)
x.reshape((3, -1)); x.flatten(); x.ravel(); x.transpose(1, 0); x.swapaxes(0, 1); x.astype('int32')
x.squeeze(); x.repeat(2, axis=1); x.tile((2, 1)); x.clip(-1, 2); x.round(1); x.sort(axis=0)
x.argsort(); x.take(np.zeros_like(y[0]), axis=1); x.dot(y.T); x.diagonal(); x.trace()
x.broadcast_to((2, 2, 3)); np.exp(x); np.log(np.abs(x)); np.sin(x, dtype='float64'); np.sign(x)
np.maximum(x, y); np.minimum(x, 1); np.fmod(x, 2); np.hypot(x, 3); np.arctan2(y, x)
np.logaddexp(x, y); np.where(x > 0, x, y); np.where(x > 0, 1, y); np.where(x > 0, x, 2)
np.where(x > 0, 1.5, 0); np.concatenate([x, y]); np.concatenate([x, y], axis=None)
np.stack([x, y], axis=1); np.append(x, y); np.vstack([x, y]); np.hstack([x, y]); np.dstack([x, y])
np.column_stack([x, y]); np.row_stack([x, y]); np.split(x, 3, axis=1); np.split(x, (1, 2), axis=1)
np.array_split(x, 2, 1); np.vsplit(x, 2); np.hsplit(x, 3); np.dsplit(x.reshape(1, 2, 3), 3)
np.atleast_2d(x[0]); np.atleast_3d(x, y); np.expand_dims(x, -1); np.ravel(x); np.reshape(x, 6)
np.moveaxis(x, 0, 1); np.rollaxis(x, 1); np.roll(x, 1, axis=1); np.rot90(x); np.flip(x, 1)
np.fliplr(x); np.flipud(x); np.tril(x); np.triu(x, 1); np.diag(x); np.diagflat(x)
np.zeros((2, 3)); np.ones(4); np.full((2,), 3); np.full((2,), 2.5); np.full((), True)
np.full_like(x, 3); np.zeros_like(x); np.ones_like(x, dtype='int8'); np.eye(2, 3); np.identity(3)
np.arange(5); np.arange(1, 4, 0.5); np.linspace(0, 1, 5); np.linspace(0.5, 2, 3)
np.logspace(0, 2, 3); np.tri(3); np.indices((2, 2)); np.hanning(5); np.hamming(4); np.blackman(6)
np.tril_indices(3); np.tensordot(x, y); np.tensordot(x, y, ((1,), (1,))); np.inner(x, y)
np.outer(x, y); np.vdot(x, y); np.dot(x, y.T); np.matmul(x, y.T); np.kron(x, y)
np.einsum('ij,ij->j', x, y); np.polyval(x[0], y); np.diff(x); np.diff(x, axis=0, prepend=y)
np.interp(x, y[0].sort(), y[1]); np.average(x)
np.average(x, axis=1, weights=y + 5, returned=True); np.median(x); np.ptp(x, axis=0)
np.percentile(x, 30, axis=0); np.quantile(x, 0.25); np.histogram(x, 3, (-6, 6))
np.count_nonzero(x); np.nan_to_num(x); np.isnan(x); np.isfinite(x); np.clip(x, None, 2)
np.cumprod(x); np.logical_and(x, y); np.unique(x); np.unique(x, return_counts=True)
np.flatnonzero(x > 0); np.take(x, np.ones(2), mode='clip'); np.broadcast_arrays(x, y[0])
np.bincount(np.abs(x[0]).astype('int32')); np.unravel_index(np.ones(2).astype('int64'), (2, 3))[1]
np.linalg.norm(x); np.linalg.inv(x @ y.T); np.linalg.cholesky(np.eye(2) * 4)
np.linalg.solve(x @ y.T, y[:, 0]); np.linalg.svd(x)[1]; np.linalg.qr(x.T)[1]
np.linalg.eigh(np.eye(2)); np.linalg.det(x @ y.T); np.linalg.slogdet(x @ y.T)[1]
np.linalg.eigvalsh(np.eye(2)); np.delete(x, 1); np.delete(x, slice(0, 2), axis=1)
np.insert(x, 1, 5); np.insert(x, 2, y[0], axis=0); np.cross(x, y)
np.insert(x[0], slice(0, 3), y[0]); np.ediff1d(x, to_end=y, to_begin=3); np.linalg.matrix_rank(x)
np.linalg.tensorinv(np.eye(6).reshape(2, 3, 2, 3))
np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), x); np.pad(x, ((1, 1), (0, 2)))
np.linalg.eigvals(np.eye(2)); np.linalg.pinv(x, 1e-6); np.copy(x); npx.relu(x); npx.sigmoid(x)
npx.softmax(x, axis=0); npx.log_softmax(x); npx.erf(x); npx.gamma(y); npx.reshape(x, (-5,))
npx.one_hot(np.arange(3), 4); npx.topk(x, k=2); npx.pick(x, np.zeros(2), axis=1)
npx.fully_connected(x, y, num_hidden=2, no_bias=True); npx.activation(x, act_type='tanh')
npx.leaky_relu(x); npx.batch_dot(x.reshape(1, 2, 3), y.reshape(1, 3, 2))
npx.layer_norm(x, y[0], y[1]); npx.smooth_l1(x)
npx.index_add(x, np.zeros((1, 2)).astype('int64'), y[0]); npx.nonzero(x); npx.stop_gradient(x)
"""
EXPRESSIONS = [text.strip() for text in SAME.replace("\n", ";").split(";") if text.strip()]


def listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def variables():
    return (mx.sym.var(name).as_np_ndarray() for name in "xy")


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_symbols_compute_what_arrays_compute(text):
    names = dict(zip("xy", variables(), strict=True))
    described = eval(text, {"np": mx.sym.np, "npx": mx.sym.npx, **names})
    arrays = {"x": np.array(X), "y": np.array(Y)}
    expected = listed(eval(text, {"np": np, "npx": npx, **arrays}))
    symbols = listed(described)
    assert len(symbols) == len(expected)
    for symbol, wanted in zip(symbols, expected, strict=True):
        assert type(symbol) is mx.sym.np._Symbol
        bound = {name: arrays[name] for name in symbol.list_arguments()}
        (actual,) = symbol.eval(**bound)
        assert type(actual) is np.ndarray
        assert (actual.shape, actual.dtype) == (wanted.shape, wanted.dtype)
        onp.testing.assert_allclose(actual.asnumpy(), wanted.asnumpy(), 1e-5, 1e-6)
        again = mx.sym.fromjson(symbol.tojson())  # as files have it
        onp.testing.assert_array_equal(again.eval(**bound)[0].asnumpy(), actual.asnumpy())


def test_functions_of_numbers_alone_are_numpys():
    assert mx.sym.np.add(1, 2) == 3 and mx.sym.np.exp(0.0) == 1


def test_classes_change_and_stay():
    x = mx.sym.var("x")
    assert type(x.as_np_ndarray()) is mx.sym.np._Symbol is mx.symbol.numpy._Symbol
    assert x.as_nd_ndarray() is x and x.as_classic_symbol() is x
    for name in ("as_nd_ndarray", "as_classic_symbol"):
        assert type(getattr(x.as_np_ndarray(), name)()) is mx.sym.Symbol
    assert type(mx.sym.np.exp(x)) is type(mx.sym.exp(x.as_np_ndarray())) is mx.sym.np._Symbol
    assert type(mx.sym.exp(x)) is mx.sym.Symbol
    assert type(mx.sym.exp(x).eval(x=np.ones(2))[0]) is mx.nd.NDArray


def test_several_outputs_are_a_sequence_and_one_is_an_array():
    x, _ = variables()
    parts = mx.sym.Group(mx.sym.np.split(x, 3), mx.sym.np._Symbol)
    assert len(parts) == parts.num_outputs == 3 and len(list(parts)) == 3
    assert parts[-1].list_outputs() == parts[2].list_outputs()
    assert len(parts[1:]) == 2
    with pytest.raises(IndexError):
        parts[3]
    with pytest.raises(TypeError):
        len(x)
    with pytest.raises(TypeError):
        iter(x)
    with pytest.raises(IndexError, match="1.5"):
        x[1.5]
    with pytest.raises(ValueError, match="zero"):
        x[::0]


def test_names_are_the_operators_unless_given():
    x, y = variables()
    with mx.name.NameManager():
        assert [(x + y).name, (x + 1).name, mx.sym.np.sum(x).name] == [
            "add0",
            "add_scalar0",
            "sum0",
        ]
        assert mx.sym.npx.fully_connected(x, num_hidden=3).list_arguments() == [
            "x",
            "fully_connected0_weight",
            "fully_connected0_bias",
        ]
    named = mx.sym.np.sum(x, axis=1, name="total", attr={"__mark__": "yes"})
    assert named.name == "total" and named.attr("__mark__") == "yes"


def test_methods_of_classic_symbols_and_writing_are_hidden():
    x, _ = variables()
    for name in ("exp", "softmax", "expand_dims", "shape", "dtype"):
        with pytest.raises(AttributeError):
            getattr(x, name)
    with pytest.raises(mx.base.NotImplementedForSymbol):
        x[0] = 1
    with pytest.raises(mx.base.NotImplementedForSymbol):
        x += 1
    with pytest.raises(NotImplementedError, match="nansum: it requires dtype_code"):
        mx.sym.np.nansum(x)
    with pytest.raises(TypeError, match="expected symbols"):
        mx.sym.np.add(x, np.ones(2))


def test_inference_and_executors():
    x, y = variables()
    actual = (mx.sym.np.exp(x) * y).sum(axis=0)
    with mx.util.np_shape(True):
        assert actual.infer_shape(x=(2, 3), y=(2, 3))[1] == [(3,)]
        assert actual.sum().infer_shape(x=(2, 0), y=(2, 0))[1] == [()]
    assert actual.infer_type(x="float64", y="float64")[1] == [onp.float64]
    bound = actual.simple_bind(mx.cpu(), x=(2, 3), y=(2, 3))
    outputs = bound.forward(is_train=True, x=mx.nd.array(X), y=mx.nd.array(Y))
    assert type(outputs[0]) is np.ndarray
    bound.backward(np.ones(3))
    onp.testing.assert_allclose(bound.grad_dict["y"].asnumpy(), onp.exp(X), 1e-5)


def test_random_symbols_draw_as_arrays_do():
    drawn = mx.sym.np.random.normal(1.0, 2.0, size=(3,))
    batch = mx.sym.npx.random.uniform_n(mx.sym.var("x"), 2.0, batch_shape=(4,))
    np.random.seed(5)
    expected = np.random.normal(1.0, 2.0, size=(3,)), npx.random.uniform_n(np.ones(2), 2.0, (4,))
    np.random.seed(5)
    actual = drawn.eval()[0], batch.eval(x=np.ones(2))[0]
    for one, other in zip(actual, expected, strict=True):
        onp.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_files_say_that_shapes_are_numpys():
    x, _ = variables()
    with mx.util.np_shape(True):
        text = mx.sym.np.sum(x).tojson()
    assert json.loads(text)["attrs"]["is_np_shape"] == ["int", 1]


def test_default_types_are_written_down():
    with mx.util.np_default_dtype(True):
        kinds = [mx.sym.np.ones(2), mx.sym.np.arange(3), mx.sym.np.linspace(0, 1, 3)]
    assert [s.eval()[0].dtype.name for s in kinds] == ["float64", "int64", "float64"]


class Net(gluon.HybridBlock):
    """A block in the style of MXNet 1.6: `hybrid_forward` with functions of np and npx."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(4, 0), allow_deferred_init=True)
            self.bias = self.params.get("bias", shape=(4,))

    def hybrid_forward(self, F, x, weight, bias):
        y = F.npx.relu(F.npx.fully_connected(x, weight, bias, num_hidden=4, no_bias=False))
        return F.np.concatenate([y, y * 2], axis=1)[:, 1:], F.np.sum(y - F.np.mean(y))


@mx.util.use_np
def test_hybrid_forward_over_symbols_and_arrays(tmp_path):
    net = Net()
    net.initialize()
    x = np.array(X)
    expected = [array.asnumpy() for array in net(x)]
    outputs = net(mx.sym.var("data").as_np_ndarray())
    assert all(type(output) is mx.sym.np._Symbol for output in outputs)
    values = {name: p.data() for name, p in net.collect_params().items()}
    for output, wanted in zip(outputs, expected, strict=True):
        names = output.list_arguments()
        onp.testing.assert_allclose(
            output.eval(**{n: {"data": x, **values}[n] for n in names})[0].asnumpy(),
            wanted,
            1e-5,
            1e-6,
        )
    net.hybridize()
    net(x)
    net.export(str(tmp_path / "net"))
    block = gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    for actual, wanted in zip(block(x), expected, strict=True):
        assert type(actual) is np.ndarray
        onp.testing.assert_allclose(actual.asnumpy(), wanted, 1e-5, 1e-6)


@pytest.mark.parametrize("module", [mx.sym.np, mx.sym.npx, mx.sym.np.linalg, mx.sym.np.random])
def test_every_name_that_is_listed_can_be_asked_for(module):
    assert all(hasattr(module, name) for name in dir(module))


def test_parameters_of_a_layer_become_variables():
    x = mx.sym.var("x").as_np_ndarray()
    out = mx.sym.npx.batch_norm(x, name="bn")
    assert out.list_arguments() == ["x", "bn_gamma", "bn_beta"]
    assert out.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]


def test_non_computing_functions_work_on_symbols():
    assert mx.sym.np.set_printoptions is np.set_printoptions
    assert mx.sym.np.newaxis is np.newaxis
