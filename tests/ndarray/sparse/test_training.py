"""Training losses on csr batches with row_sparse gradients equal real MXNet 1.9.1's."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, nd

#: optimizer, its arguments, and the losses that MXNet 1.9.1 gives for `train`
GOLDEN = [
    ("sgd", {"wd": 0.01}, [0.6094103, 0.4474585, 0.5593902, 0.3688301, 0.2393458, 0.5516775]),
    (
        "sgd",
        {"wd": 0.01, "momentum": 0.9},
        [0.6094103, 0.4474585, 0.5579888, 0.371204, 0.2334214, 0.547797],
    ),
    ("adam", {"wd": 0.01}, [0.6094103, 0.4315606, 0.4984673, 0.3625592, 0.2276484, 0.4905943]),
    (
        "adam",
        {"wd": 0.01, "lazy_update": False},
        [0.6094103, 0.4197827, 0.471882, 0.4459902, 0.2177112, 0.4485678],
    ),
    ("adagrad", {}, [0.6094103, 0.471225, 0.4998831, 0.3505495, 0.2428038, 0.496749]),
    ("ftrl", {}, [0.6094103, 0.2983072, 0.391838, 0.3456707, 0.1892326, 0.3524392]),
]


def train(optimizer, options):
    """Losses of a factorization machine with an embedding; this code also runs in MXNet."""
    rng = np.random.RandomState(7)
    w, v, e = (nd.array(rng.uniform(-0.5, 0.5, s)) for s in ((40, 1), (40, 3), (20, 3)))
    for weight in (w, v, e):
        weight.attach_grad(stype="row_sparse")
    made = mx.optimizer.create(optimizer, learning_rate=0.05, **options)
    update, losses = mx.optimizer.get_updater(made), []
    for _ in range(6):
        dense = rng.uniform(-1, 1, (8, 40)) * (rng.uniform(size=(8, 40)) < 0.1)
        x, ids = nd.array(dense).tostype("csr"), nd.array(rng.randint(0, 20, 8))
        y = nd.array(rng.uniform(-1, 1, (8, 1)))
        with autograd.record():
            linear = nd.dot(x, w)
            rows = nd.Embedding(ids, e, input_dim=20, output_dim=3, sparse_grad=True)
            crossed = nd.sum(nd.tanh(nd.dot(x, v)) * rows, axis=1, keepdims=True)
            loss = nd.mean(nd.square(linear + crossed - y))
        loss.backward()
        for number, weight in enumerate((w, v, e)):
            update(number, weight.grad, weight)
        losses.append(float(loss.asscalar()))
    return losses


@pytest.mark.parametrize(
    ("optimizer", "options", "losses"), GOLDEN, ids=lambda value: str(value)[:20]
)
def test_losses_are_those_of_mxnet(optimizer, options, losses):
    np.testing.assert_allclose(train(optimizer, options), losses, rtol=1e-5)
