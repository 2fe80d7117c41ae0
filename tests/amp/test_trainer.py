"""Loss scaling, and the steps that trainers skip."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import amp, autograd, gluon
from mxcy.amp.loss_scaler import LossScaler


def trainer_of(*shapes, **kwargs):
    """A Trainer for parameters full of ones, with plain SGD and learning rate 1."""
    parameters = []
    for number, shape in enumerate(shapes or [(2,)]):
        parameter = gluon.Parameter(f"w{number}", shape=shape)
        parameter.initialize(mx.init.One())
        parameters.append(parameter)
    return gluon.Trainer(parameters, "sgd", {"learning_rate": 1.0}, **kwargs), parameters


def step(trainer, parameters, factor=1.0):
    """Run a step in which all gradients are `factor`."""
    with autograd.record():
        loss = sum((parameter.data() * factor).sum() for parameter in parameters)
        with amp.scale_loss(loss, trainer) as scaled:
            scaled.backward()
    trainer.step(1)


@pytest.mark.parametrize("on_store", [False, True])
def test_the_sequence_of_scales(mixed, on_store):
    mixed("float16")
    store = {"kvstore": "local", "update_on_kvstore": True} if on_store else {}
    trainer, parameters = trainer_of((2,), (3, 2), **store)
    amp.init_trainer(trainer)
    assert (trainer.amp_loss_scale, trainer._amp_original_scale) == (2.0**16, 1.0)
    seen = []
    for factor in (1.0, np.inf, 1.0, 1.0):
        before = parameters[1].data().asnumpy()
        step(trainer, parameters, factor)
        seen.append((trainer.amp_loss_scale, trainer._scale))
        changed = before - parameters[1].data().asnumpy()
        np.testing.assert_array_equal(changed, np.full((3, 2), float(np.isfinite(factor))))
    assert seen == [
        (2.0**16, 2.0**-16),
        (2.0**16, 2.0**-16),
        (2.0**15, 2.0**-16),
        (2.0**15, 2.0**-15),
    ]
    assert trainer.optimizer.num_update == 3


def test_the_scale_grows_after_good_steps(mixed, caplog):
    mixed("float16")
    trainer, parameters = trainer_of()
    amp.init_trainer(trainer)
    scaler = trainer._amp_loss_scaler
    scaler._scale_seq_len, scaler._max_loss_scale = 3, 2.0**17
    with caplog.at_level("INFO"):
        for _ in range(10):
            step(trainer, parameters)
    assert scaler.loss_scale == 2.0**17  # not more
    assert "AMP: increasing loss scale to 131072.000000" in caplog.text


def test_the_scale_does_not_vanish(caplog):
    parameter = gluon.Parameter("w", shape=(2,))
    parameter.initialize()
    parameter.list_grad()[0][:] = np.nan
    scaler = LossScaler()
    with caplog.at_level("INFO"):
        assert all(scaler.has_overflow([parameter]) for _ in range(40))
    assert scaler.loss_scale == 2.0**-14
    assert "AMP: decreasing loss scale to 32768.000000" in caplog.text
    assert caplog.text.count("fallen below 1") == 1


def test_many_gradients():
    parameters = []
    for number in range(201):
        parameter = gluon.Parameter(f"w{number}", shape=(1,))
        parameter.initialize()
        parameters.append(parameter)
    scaler = LossScaler()
    assert not scaler.has_overflow(parameters)
    parameters[-1].list_grad()[0][:] = np.inf
    assert scaler.has_overflow(parameters)
    parameters[-1].grad_req = "null"
    assert not scaler.has_overflow(parameters)
    assert not scaler.has_overflow([])


def test_several_losses_and_trainers(mixed):
    mixed("float16")
    (first, _), (second, _) = trainer_of(), trainer_of()
    amp.init_trainer(first)
    amp.init_trainer(second)
    assert first._amp_loss_scaler is not second._amp_loss_scaler
    with amp.scale_loss([mx.nd.ones(1), mx.nd.ones(1)], first) as losses:
        assert [loss.asscalar() for loss in losses] == [2.0**16] * 2
    with amp.scale_loss((mx.nd.ones(1),), first) as losses:
        assert type(losses) is list
    assert first._scale == 2.0**-16
    assert second._scale == 1


def test_unscale_before_clipping(mixed):
    mixed("bfloat16")
    trainer, (parameter,) = trainer_of()
    amp.init_trainer(trainer)
    with autograd.record():
        loss = (parameter.data() * 8).sum()
        with amp.scale_loss(loss, trainer) as scaled:
            scaled.backward()
    amp.unscale(trainer)
    np.testing.assert_array_equal(parameter.grad().asnumpy(), [8, 8])
    gluon.utils.clip_global_norm([parameter.grad()], 2.0**0.5)
    trainer.update(1)
    np.testing.assert_allclose(parameter.data().asnumpy(), [0, 0], atol=1e-6)


def test_invalid_arguments(mixed):
    trainer, _ = trainer_of()
    with pytest.raises(AssertionError, match=r"did you forget to call amp.init\(\)"):
        amp.init_trainer(trainer)
    mixed("float16")
    with pytest.raises(AssertionError, match=r"did you forget to call amp.init_trainer\(\)"):
        amp.scale_loss(mx.nd.ones(1), trainer).__enter__()
    for function in (amp.init_trainer, amp.unscale):
        with pytest.raises(TypeError, match="only compatible with Gluon Trainer"):
            function(mx.optimizer.create("sgd"))
        with pytest.raises(TypeError, match="instead is <class 'int'>"):
            function(3)
    assert trainer.amp_loss_scale == 1
