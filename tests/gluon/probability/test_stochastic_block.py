"""Stochastic blocks, which collect losses in addition to their outputs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

mgp = mx.gluon.probability
pytestmark = pytest.mark.usefixtures("np_arrays")


class Plain(mx.gluon.HybridBlock):
    def forward(self, x):
        return x + 1


class Telling(mgp.StochasticBlock):
    @mgp.StochasticBlock.collectLoss
    def forward(self, x):
        self.add_loss(x**2)
        self.add_loss(x - 1)
        return x + 1


class Silent(mgp.StochasticBlock):
    @mgp.StochasticBlock.collectLoss
    def forward(self, x):
        return x, [x + 1, x + 2]


class Undecorated(mgp.StochasticBlock):
    def forward(self, x):
        self.add_loss(x)
        return x


ways = pytest.mark.parametrize("hybrid", [False, True])


@ways
def test_losses_of_the_last_call(hybrid):
    net = Telling()
    net.hybridize(hybrid)
    assert net.losses == []
    for value in (1.0, 3.0):
        x = mx.np.full((2,), value)
        x.attach_grad()
        with autograd.record():
            out = net(x)
            total = sum(loss.sum() for loss in net.losses)
        total.backward()
        assert out.tolist() == [value + 1] * 2
        assert [loss.tolist() for loss in net.losses] == [[value**2] * 2, [value - 1] * 2]
        assert x.grad.tolist() == [2 * value + 1] * 2


@ways
def test_nested_outputs_without_losses(hybrid):
    net = Silent()
    net.hybridize(hybrid)
    first, (second, third) = net(mx.np.zeros(()))
    assert [first.item(), second.item(), third.item()] == [0, 1, 2] and net.losses == []


@ways
def test_sequences(hybrid):
    net = mgp.StochasticSequential()
    net.add(Telling(), Plain())
    net.add(Telling())
    net.hybridize(hybrid)
    for _ in range(2):
        assert net(mx.np.ones((2, 2))).tolist() == [[4, 4]] * 2
        first, second = net.losses
        assert [loss[0, 0].item() for loss in first] == [1, 0]
        assert [loss[0, 0].item() for loss in second] == [9, 2]
    assert len(net) == 3 and isinstance(net[1], Plain)
    part = net[1:]
    assert type(part) is mgp.StochasticSequential and len(part) == 2
    assert part(mx.np.ones(1)).tolist() == [3] and len(part.losses) == 1
    assert "Telling" in repr(net) and "Plain" in repr(net)


@ways
def test_forward_must_be_decorated(hybrid):
    for net in (Undecorated(), mgp.StochasticSequential()):
        if isinstance(net, mgp.StochasticSequential):
            net.add(Plain(), Undecorated())
        net.hybridize(hybrid)
        with pytest.raises(ValueError, match="Undecorated.*StochasticBlock.collectLoss"):
            net(mx.np.ones((2, 2)))


@pytest.mark.parametrize("profile", ["1.9", "2.0"])
@ways
def test_an_encoder_learns(hybrid, profile, run_python):
    """Its divergence is a loss, its samples have gradients, in both profiles."""
    printed = run_python(
        f"""
import mxcy as mx
from mxcy import autograd, np
mx.util.set_np()
mgp, nn = mx.gluon.probability, mx.gluon.nn
mx.random.seed(1)

class Encoder(mgp.StochasticBlock):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4)

    @mgp.StochasticBlock.collectLoss
    def forward(self, x):
        loc, log_scale = np.split(self.dense(x), 2, axis=1)
        code = mgp.Normal(loc, np.exp(log_scale))
        self.add_loss(mgp.kl_divergence(code, mgp.Normal(0.0, 1.0)).sum(axis=1))
        return code.sample()

encoder, decoder = Encoder(), nn.Dense(2)
net = mgp.StochasticSequential()
net.add(encoder, decoder)
net.initialize()
net.hybridize({hybrid})
trainer = mx.gluon.Trainer(net.collect_params(), "adam", {{"learning_rate": 0.05}})
x = np.random.normal(0, 3, (64, 2))
losses = []
for _ in range(60):
    with autograd.record():
        out = net(x)
        loss = ((out - x) ** 2).sum(axis=1) + net.losses[0][0]
    loss.backward()
    trainer.step(64)
    losses.append(loss.mean().item())
print(losses[0], losses[-1], (net(x) != net(x)).any().item())
""",
        MXCY_MXNET=profile,
    )
    first, last, differs = printed.split()
    assert float(last) < 0.7 * float(first) and differs == "True"
    assert np.isfinite(float(last))
