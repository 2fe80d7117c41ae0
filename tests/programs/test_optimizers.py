"""Optimizers by hand and the Trainer's, on a noisy regression and in a curved valley."""

import pytest

import mxcy as mx
from mxcy import autograd, gluon, np
from mxcy.gluon import nn


@pytest.fixture
def table():
    """A regression of five standardised columns, in batches of 20."""
    features = np.random.normal(0, 1, (400, 5)) * np.array([1, 5, 0.2, 2, 1])
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    target = np.dot(features, np.array([1.0, -2.0, 0.5, 0.0, 3.0]))
    target += np.random.normal(0, 0.1, target.shape)
    return gluon.data.DataLoader(gluon.data.ArrayDataset(features, target), 20, shuffle=True)


def sgd(parameters, states, t):
    for p in parameters:
        p[:] -= 0.1 * p.grad


def momentum(parameters, states, t):
    for p, (v, _) in zip(parameters, states, strict=True):
        with autograd.pause():
            v[:] = 0.8 * v + p.grad
            p[:] -= 0.03 * v


def adagrad(parameters, states, t):
    for p, (_, s) in zip(parameters, states, strict=True):
        s[:] += np.square(p.grad)
        p[:] -= 0.6 * p.grad / np.sqrt(s + 1e-6)


def rmsprop(parameters, states, t):
    for p, (_, s) in zip(parameters, states, strict=True):
        s[:] = 0.9 * s + 0.1 * np.square(p.grad)
        p[:] -= 0.08 * p.grad / np.sqrt(s + 1e-6)


def adadelta(parameters, states, t):
    for p, (d, s) in zip(parameters, states, strict=True):
        s[:] = 0.9 * s + 0.1 * np.square(p.grad)
        change = np.sqrt(d + 1e-3) / np.sqrt(s + 1e-3) * p.grad
        p[:] -= change
        d[:] = 0.9 * d + 0.1 * change * change


def adam(parameters, states, t):
    for p, (v, s) in zip(parameters, states, strict=True):
        v[:] = 0.9 * v + 0.1 * p.grad
        s[:] = 0.99 * s + 0.01 * np.square(p.grad)
        p[:] -= 0.15 * (v / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.99**t)) + 1e-6)


@pytest.mark.parametrize("rule", [sgd, momentum, adagrad, rmsprop, adadelta, adam])
def test_by_hand(table, rule):
    weight, bias = np.random.normal(0, 0.01, (5, 1)), np.zeros(1)
    for one in (weight, bias):
        one.attach_grad()
    states = [(np.zeros_like(one), np.zeros_like(one)) for one in (weight, bias)]
    losses, t = [], 0
    for _ in range(4):
        losses.append(0.0)
        for x, y in table:
            t += 1
            with autograd.record():
                loss = ((np.dot(x, weight) + bias - y.reshape(-1, 1)) ** 2 / 2).mean()
            loss.backward()
            rule([weight, bias], states, t)
            losses[-1] += loss.item() / len(table)
    assert losses[-1] < 0.1 < losses[0]


SETTINGS = {
    "sgd": {"learning_rate": 0.05, "momentum": 0.5, "wd": 1e-4},
    "nag": {"learning_rate": 0.05, "momentum": 0.5},
    "adagrad": {"learning_rate": 0.9},
    "adadelta": {"learning_rate": 1.0, "epsilon": 1e-2},
    "adam": {"learning_rate": 0.1, "beta1": 0.9},
    "adamw": {"learning_rate": 0.1},
    "adabelief": {"learning_rate": 0.1},
    "adamax": {"learning_rate": 0.1},
    "nadam": {"learning_rate": 0.1},
    "ftrl": {"learning_rate": 1.0, "lamda1": 1e-4},
    "ftml": {"learning_rate": 0.1},
    "lamb": {"learning_rate": 0.1},
    "rmsprop": {"learning_rate": 0.1},
    "signum": {"learning_rate": 0.02, "momentum": 0.5},
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_of_the_trainer(table, name, hybridize):
    net = nn.HybridSequential()
    net.add(nn.Dense(1))
    net.initialize(mx.init.Normal(0.1))
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), name, SETTINGS[name])
    loss_of, losses = gluon.loss.L2Loss(), []
    for _ in range(8):
        losses.append(0.0)
        for x, y in table:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(x.shape[0])
            losses[-1] += loss.mean().item() / len(table)
    assert losses[-1] < 0.3 and losses[-1] < 0.2 * losses[0]


def test_a_valley():
    """Plain gradient descent oscillates across the steep valley; momentum does not."""

    def run(rate, kept):
        point, speed, path = np.array([-5.0, -2.0]), np.zeros(2), []
        point.attach_grad()
        for _ in range(20):
            with autograd.record():
                height = 0.1 * point[0] ** 2 + 2 * point[1] ** 2
            height.backward()
            speed = kept * speed + point.grad
            point[:] -= rate * speed
            path.append(float(height))
        return path

    assert run(0.6, 0)[-1] > 100
    assert run(0.6, 0.5)[-1] < 0.1
    assert run(0.4, 0)[-1] < 0.2


def test_newtons_method():
    x = np.array([[0.5, -1.0], [2.0, 1.0]])

    def slope_and_bend(c):
        c.attach_grad()
        with autograd.record():
            y = np.cosh(c).sum()
            slope = autograd.grad(y, [c], create_graph=True)[0]
            total = slope.sum()
        total.backward()
        return slope, c.grad

    for _ in range(6):
        slope, bend = slope_and_bend(x)
        x = (x - slope / bend).detach()
    assert abs(x).max() < 1e-5
