"""Linear networks and multilayer perceptrons, by hand and with Gluon."""

import pytest

import mxcy as mx
from mxcy import autograd, gluon, np, npx
from mxcy.gluon import nn
from tests.programs.training import accuracy_of, descend, fit, variables

WEIGHT, BIAS = (2.0, -3.4), 4.2


@pytest.fixture
def points():
    """Points on a plane, with a little noise, in batches of 10."""
    inputs = np.random.normal(0, 1, (500, 2))
    values = np.dot(inputs, np.array(WEIGHT)) + BIAS
    values += np.random.normal(0, 0.01, values.shape)
    dataset = gluon.data.ArrayDataset(inputs, values.reshape(-1, 1))
    return gluon.data.DataLoader(dataset, batch_size=10, shuffle=True)


def test_linear_regression_by_hand(points):
    weight, bias = variables((2, 1), (1,))
    losses = fit(
        lambda x: np.dot(x, weight) + bias,
        points,
        lambda size: descend([weight, bias], 0.1, size),
        epochs=2,
        loss_of=lambda actual, wanted: (actual - wanted.reshape(actual.shape)) ** 2 / 2,
    )
    assert losses[1] < 0.01 < losses[0]
    assert np.allclose(weight, np.array(WEIGHT).reshape(2, 1), atol=0.02)
    assert abs(float(bias) - BIAS) < 0.02


def test_linear_regression(points, generation):
    net = nn.Sequential()
    net.add(nn.Dense(1))
    net.initialize(mx.init.Normal(sigma=0.01))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    losses = fit(net, points, trainer, epochs=2, loss_of=gluon.loss.L2Loss())
    assert losses[1] < 0.01 < losses[0]
    weight, bias = net[0].weight.data(), net[0].bias.data()
    assert type(weight) is np.ndarray and weight.shape == (1, 2)
    assert abs(weight - np.array(WEIGHT)).max() < 0.02 and abs(bias.item() - BIAS) < 0.02
    assert (list(net.collect_params()) == ["0.weight", "0.bias"]) or generation == "1.9"
    assert net[0].weight.grad().shape == weight.shape


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_softmax_regression_by_hand(batches):
    weight, bias = variables((784, 10), (10,))

    def net(images):
        return softmax(np.dot(images.reshape(-1, 784), weight) + bias)

    def cross_entropy(chances, labels):
        return -np.log(chances[np.arange(len(labels), dtype="int32"), labels])

    def listed(chances, labels):  # positions in Python's ways
        return -np.log(chances[range(len(labels)), labels])

    losses = fit(net, batches[0], lambda n: descend([weight, bias], 0.5, n), 3, cross_entropy)
    losses += fit(net, batches[0], lambda n: descend([weight, bias], 0.5, n), 1, listed)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.6
    assert accuracy_of(net, batches[1]) > 0.8


@pytest.mark.parametrize("hybridize", [False, True])
def test_perceptron(batches, hybridize):
    net = nn.HybridSequential()
    net.add(nn.Dense(64, activation="relu"), nn.Dropout(0.2), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    rates = mx.lr_scheduler.CosineScheduler(max_update=72, base_lr=0.5, final_lr=0.01)
    trainer = gluon.Trainer(
        net.collect_params(), "sgd", {"lr_scheduler": rates, "wd": 1e-4, "learning_rate": 0.5}
    )
    losses = fit(net, batches[0], trainer, epochs=3)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.6
    assert accuracy_of(net, batches[1]) > 0.8
    assert trainer.learning_rate < 0.02


def test_perceptron_by_hand(batches):
    parameters = variables((784, 64), (64,), (64, 10), (10,), scale=0.05)
    w1, b1, w2, b2 = parameters
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    def dropout(x, rate):
        mask = np.random.uniform(0, 1, x.shape) > rate
        return mask.astype("float32") * x / (1 - rate)

    def net(images):
        hidden = np.maximum(np.dot(images.reshape(-1, 784), w1) + b1, 0)
        if autograd.is_training():
            hidden = dropout(hidden, 0.2)
        return np.dot(hidden, w2) + b2

    def penalised(scores, labels):
        return loss_of(scores, labels) + 1e-5 * (np.sum(w1**2) + (w2**2).sum())

    losses = fit(net, batches[0], lambda n: descend(parameters, 0.5, n), 3, penalised)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.7
    assert accuracy_of(net, batches[1]) > 0.7


def test_saving_and_sharing(batches, tmp_path):
    class Model(nn.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.scale = gluon.Constant(np.array([2.0]))
            self.hidden = nn.Dense(16, activation="relu")
            self.again = nn.Dense(16, activation="relu", in_units=16)
            self.out = nn.Dense(10)

        def forward(self, x):
            x = self.again(self.hidden(x) * self.scale.data())
            while np.abs(x).sum() > 100:  # control flow that depends on values
                x = x / 2
            return self.out(x)

    net, other = Model(), Model()
    net.initialize()
    images, _ = next(iter(batches[1]))
    wanted = net(images)
    net.save_parameters(str(tmp_path / "net.params"))
    other.load_parameters(str(tmp_path / "net.params"))
    assert np.array_equal(other(images), wanted)
    npx.save(str(tmp_path / "arrays"), {"images": images, "wanted": wanted})
    read = npx.load(str(tmp_path / "arrays"))
    assert type(read["wanted"]) is np.ndarray and np.array_equal(read["wanted"], wanted)
    assert [key for key in net.collect_params(".*weight")] and "Dense" in repr(net)


def test_regression_on_a_table():
    """Columns of numbers and of words, logarithms of prices, folds: as in a competition."""
    count = 200
    areas = np.random.uniform(30, 200, (count,))
    kinds = np.random.randint(0, 3, (count,))
    prices = areas * (1000 + 500 * kinds.astype("float32"))
    features = np.concatenate(
        [((areas - areas.mean()) / areas.std()).reshape(-1, 1), npx.one_hot(kinds, 3)], axis=1
    )

    def log_rmse(net, x, y):
        clipped = np.clip(net(x), 1, float("inf"))
        return np.sqrt(2 * gluon.loss.L2Loss()(np.log(clipped), np.log(y)).mean()).item()

    collected = []
    for fold in range(2):
        held = slice(fold * count // 2, (fold + 1) * count // 2)
        kept = slice((1 - fold) * count // 2, (2 - fold) * count // 2)
        net = nn.HybridSequential()
        net.add(nn.Dense(16, activation="relu"), nn.Dense(1))
        net.initialize(mx.init.Xavier())
        scale = float(prices[kept].mean())
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05, "wd": 0})
        loader = gluon.data.DataLoader(
            gluon.data.ArrayDataset(features[kept], prices[kept].reshape(-1, 1) / scale), 20
        )
        fit(net, loader, trainer, 20, gluon.loss.L2Loss())
        collected.append(
            log_rmse(lambda x: net(x) * scale, features[held], prices[held].reshape(-1, 1))  # noqa: B023
        )
    assert max(collected) < 0.25
