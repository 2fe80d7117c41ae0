"""Graphs with sparse values: plans run the dense parts, with the eager results."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon, nd


class Recommender(gluon.HybridBlock):
    """Computed ids, two embeddings whose gradients are sparse, and layers on both sides."""

    def __init__(self, sparse):
        super().__init__()
        with self.name_scope():
            self.users = gluon.nn.Embedding(50, 4, sparse_grad=sparse)
            self.items = gluon.nn.Embedding(30, 4, sparse_grad=sparse)
            self.layers = gluon.nn.HybridSequential()
            self.layers.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.BatchNorm())
            self.layers.add(gluon.nn.Dense(1))

    def hybrid_forward(self, F, users, items):
        users = F.clip(F.abs(users) + 1 - F.ones_like(users), 0, 49)
        both = F.concat(self.users(users), self.items(items), dim=1)
        return self.layers(both)


def train(sparse, hybrid, optimizer="sgd"):
    """Losses of some steps, a final prediction, all parameters, and the block."""
    mx.random.seed(3)
    np.random.seed(3)
    net = Recommender(sparse)
    net.initialize(mx.init.Normal(0.5))
    net.hybridize(hybrid)
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.05})
    rng, actual = np.random.default_rng(0), []
    for _ in range(6):
        users, items = (nd.array(rng.integers(0, n, 16)) for n in (50, 30))
        with autograd.record():
            loss = nd.square(net(users, items) - 1).mean()
        loss.backward()
        trainer.step(1)
        actual.append(loss.asscalar())
    actual.append(net(users, items).sum().asscalar())
    return actual, [p.data().asnumpy() for p in net.collect_params().values()], net


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_hybrid_training_equals_eager_training(optimizer):
    eager, hybrid = (train(True, flag, optimizer) for flag in (False, True))
    np.testing.assert_allclose(hybrid[0], eager[0], rtol=1e-5)
    for one, other in zip(hybrid[1], eager[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_sparse_gradients_train_as_dense_ones():
    np.testing.assert_allclose(train(True, True)[0], train(False, True)[0], rtol=1e-5)


def test_only_embeddings_run_alone_and_only_in_training():
    net = train(True, True)[2]
    ids = nd.array([1, 2]), nd.array([3, 4])
    cached = net._cached_op
    arrays = [ids[source] if given else source.data() for given, source in net._cached_op_args]
    assert cached.run_alone(*arrays) == []
    with autograd.record():
        alone = cached.run_alone(*arrays)
    assert len(alone) == 2 and all("embedding" in name for name in alone)
    assert train(False, True)[2]._cached_op.run_alone(*arrays) == []


def chain():
    """Sparse, dense, sparse and dense layers in turn, with states between."""
    x = mx.sym.var("x", stype="csr")
    h = mx.sym.dot(x, mx.sym.var("w"))
    h = mx.sym.BatchNorm(mx.sym.tanh(h * 2 + 1), name="norm", fix_gamma=False)
    h = mx.sym.relu(mx.sym.tanh(h) - 0.5)
    back = mx.sym.dot(mx.sym.cast_storage(h, stype="csr"), mx.sym.var("v"))
    return mx.sym.Group([mx.sym.exp(mx.sym.tanh(back) * 0.5) + 1, mx.sym.square(x)])


def bound(symbol, stype, grad_req="write"):
    rng = np.random.default_rng(1)
    values = {
        "x": rng.uniform(-1, 1, (6, 9)) * (rng.random((6, 9)) < 0.4),
        "w": rng.uniform(-1, 1, (9, 5)),
        "v": rng.uniform(-1, 1, (5, 3)),
        "norm_gamma": rng.uniform(0.5, 1, 5),
        "norm_beta": rng.uniform(-1, 1, 5),
    }
    args = {name: nd.array(value) for name, value in values.items()}
    args["x"] = args["x"].tostype(stype)
    gradients = {name: nd.ones(value.shape) for name, value in values.items() if name != "x"}
    states = {"norm_moving_mean": nd.zeros(5), "norm_moving_var": nd.ones(5)}
    return symbol.bind(mx.cpu(), args, gradients, grad_req, states)


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_executors_equal_those_of_dense_arrays(grad_req):
    executors = [bound(chain(), stype, grad_req) for stype in ("csr", "default")]
    for executor in executors:
        executor.forward(is_train=False)
        executor.forward(is_train=True)
        heads = [nd.array(np.arange(18).reshape(6, 3) / 9), nd.zeros((6, 9))]
        for _ in range(2):  # the second one repeats the forward pass
            executor.backward(heads)
    sparse, dense = executors
    assert sparse.outputs[1].stype == "csr"
    for one, other in zip(sparse.outputs, dense.outputs, strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
    for name in ("w", "v", "norm_gamma", "norm_beta"):
        one, other = (executor.grad_dict[name].asnumpy() for executor in executors)
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=name)
    for name in dense.aux_dict:
        one, other = (executor.aux_dict[name].asnumpy() for executor in executors)
        np.testing.assert_allclose(one, other, rtol=1e-5, err_msg=name)


def test_dense_parts_form_few_subgraphs():
    symbol = chain()
    cached = mx.nd.CachedOp(symbol)
    arrays = {**bound(symbol, "csr").arg_dict, **bound(symbol, "csr").aux_dict}
    alone = cached.run_alone(*[arrays[name] for name in symbol.list_inputs()])
    kinds = sorted(name.rstrip("0123456789") for name in alone)
    assert kinds == ["cast_storage", "dot", "dot", "square"]


def test_second_derivatives():
    collected = []
    for stype in ("csr", "default"):
        executor = bound(chain(), stype)
        cached = mx.nd.CachedOp(chain()[0])
        arrays = {**executor.arg_dict, **executor.aux_dict}
        w = arrays["w"]
        w.attach_grad()
        with autograd.record():
            y = cached(*[arrays[name] for name in chain()[0].list_inputs()])
            (slope,) = autograd.grad(y, [w], create_graph=True, retain_graph=True)
            total = nd.square(slope).sum()
        total.backward()
        collected.append(w.grad.asnumpy())
    np.testing.assert_allclose(*collected, rtol=1e-3, atol=1e-5)


def test_loops_beside_sparse_gradients():
    """A loop over dense values runs in a plan, with the eager results."""
    collected = []
    for sparse in (False, True):
        ids, w = mx.sym.var("ids"), mx.sym.var("w")
        rows = mx.sym.Embedding(ids, w, input_dim=7, output_dim=3, sparse_grad=sparse)
        steps, _ = mx.sym.contrib.foreach(
            lambda row, total: (row * 2 + total, row + total), rows, mx.sym.zeros((3,))
        )
        arrays = [nd.array([1, 5, 1]), nd.array(np.arange(21).reshape(7, 3))]
        arrays[1].attach_grad(stype="row_sparse" if sparse else None)
        cached = mx.nd.CachedOp(steps)
        assert steps.list_inputs() == ["ids", "w"]
        with autograd.record():
            out = cached(*arrays)
        out.backward()
        collected.append((out.asnumpy(), arrays[1].grad.asnumpy()))
    for one, other in zip(*collected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_modules_train_as_with_dense_data():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (32, 10)) * (rng.random((32, 10)) < 0.3)
    labels, weights = x.sum(axis=1) > 0, {}
    for stype in ("csr", "default"):
        data = mx.sym.var("data", stype=stype)
        hidden = mx.sym.dot(data, mx.sym.var("in_weight", shape=(10, 6)))
        hidden = mx.sym.FullyConnected(mx.sym.relu(hidden), num_hidden=2, name="fc")
        symbol = mx.sym.SoftmaxOutput(hidden, name="softmax")
        batches = mx.io.NDArrayIter(
            nd.array(x).tostype(stype), labels, 8, last_batch_handle="discard"
        )
        module = mx.mod.Module(symbol, context=mx.cpu())
        mx.random.seed(5)
        module.fit(
            batches,
            initializer=mx.init.Normal(0.3),
            optimizer_params={"learning_rate": 0.5, "lazy_update": False},
            num_epoch=3,
        )
        weights[stype] = {k: v.asnumpy() for k, v in module.get_params()[0].items()}
    for name, value in weights["default"].items():
        np.testing.assert_allclose(weights["csr"][name], value, rtol=1e-4, atol=1e-6)


def test_an_executor_of_sparse_arrays_has_no_plan_of_its_own():
    with pytest.raises(mx.MXNetError, match="no single plan"):
        bound(chain(), "csr").plan()
