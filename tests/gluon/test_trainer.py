"""Trainers: steps, several contexts, stale gradients, saved states."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.gluon import nn


def parameter(name="x", contexts=None):
    made = gluon.Parameter(name, shape=(2,))
    made.initialize(mx.init.Zero(), ctx=contexts)
    return made


def backward(*parameters, factor=1):
    with mx.autograd.record():
        losses = [(array * factor).sum() for p in parameters for array in p.list_data()]
    mx.autograd.backward(losses)


def test_step_divides_by_the_batch_size():
    x = parameter()
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 0.5})
    backward(x)
    trainer.step(4)
    assert x.data().asnumpy().tolist() == [-0.125, -0.125]


@pytest.mark.parametrize("name", ["sgd", "nag", "adam", "adamw", "lamb", "lars", "rmsprop", "sgld"])
def test_the_batch_size_may_be_an_array_of_a_number(name):
    results = []
    for size in (4, mx.np.array(4.0)):
        mx.random.seed(1)
        weight = mx.gluon.Parameter("weight", shape=(2,))
        weight.initialize("ones")
        trainer = mx.gluon.Trainer({"weight": weight}, name, {"learning_rate": 0.1})
        with mx.autograd.record():
            loss = (weight.data() ** 2).sum()
        loss.backward()
        trainer.step(size)
        results.append(weight.data().asnumpy())
    assert (results[0] != 1).all()
    np.testing.assert_allclose(*results, rtol=1e-6)


def test_rescale_grad_multiplies():
    x = parameter()
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 0.5, "rescale_grad": 2})
    backward(x)
    trainer.step(1)
    assert x.data().asnumpy().tolist() == [-1, -1]


@pytest.mark.parametrize("update_on_kvstore", [None, False])
@pytest.mark.parametrize("kvstore", [None, "local", "device"])
def test_gradients_of_contexts_are_added(kvstore, update_on_kvstore):
    x = parameter(contexts=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer(
        [x],
        "sgd",
        {"learning_rate": 1, "momentum": 0.5},
        kvstore=kvstore,
        update_on_kvstore=update_on_kvstore,
    )
    for _ in range(2):
        backward(x)
        trainer.step(1)
    expected = [-2.5, -2.5] if kvstore is None else [-5, -5]  # without a store each has its own
    for array in x.list_data():
        assert array.asnumpy().tolist() == expected


def test_allreduce_and_update_apart():
    x = parameter(contexts=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1}, update_on_kvstore=False)
    backward(x)
    trainer.allreduce_grads()
    assert [gradient.asnumpy().tolist() for gradient in x.list_grad()] == [[2, 2], [2, 2]]
    for gradient in x.list_grad():
        gradient[:] = 3
    trainer.update(3)
    assert x.data(mx.cpu(1)).asnumpy().tolist() == [-1, -1]
    together = gluon.Trainer([x], "sgd")
    for refused in (together.allreduce_grads, lambda: together.update(1)):
        with pytest.raises(AssertionError, match="on kvstore is not supported"):
            refused()


def test_stale_gradients():
    used, unused = parameter("used"), parameter("unused")
    trainer = gluon.Trainer([used, unused], "sgd", {"learning_rate": 1})
    backward(used)
    with pytest.raises(UserWarning, match="Gradient of Parameter `unused`"):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)
    assert used.data().asnumpy().tolist() == [-1, -1]
    trainer.step(1, ignore_stale_grad=True)
    assert used.data().asnumpy().tolist() == [-1, -1]


def test_a_step_before_the_first_batch():
    net = gluon.nn.Dense(3)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(gluon.parameter.DeferredInitializationError, match="weight"):
        trainer.step(1)


def test_batch_sizes_of_steps():
    trainer = gluon.Trainer([parameter()], "sgd")
    for size, error in ((0, ZeroDivisionError), ("a", TypeError)):
        with pytest.raises(error, match=f"batch_size: expected .*, got {size!r}"):
            trainer.step(size)


def test_parameters_without_gradient_are_left_alone():
    x, frozen = parameter("x"), parameter("frozen")
    frozen.grad_req = "null"
    trainer = gluon.Trainer([x, frozen], "sgd", {"learning_rate": 1, "wd": 1})
    backward(x)
    trainer.step(1)
    assert frozen.data().asnumpy().tolist() == [0, 0]


def test_multipliers_of_parameters():
    fast, slow = parameter("fast"), parameter("slow")
    fast.lr_mult = 2
    trainer = gluon.Trainer([fast, slow], "sgd", {"learning_rate": 1})
    backward(fast, slow)
    trainer.step(1)
    assert fast.data().asnumpy().tolist() == [-2, -2]
    assert slow.data().asnumpy().tolist() == [-1, -1]


def test_shared_parameters_are_updated_once():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2, use_bias=False))
    net.add(nn.Dense(2, in_units=2, use_bias=False, params=net[0].params))
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1})
    with mx.autograd.record():
        out = net(mx.nd.ones((1, 2))).sum()
    out.backward()
    gradient = net[0].weight.grad().asnumpy()
    trainer.step(1)
    np.testing.assert_allclose(net[0].weight.data().asnumpy(), 1 - gradient)


def test_learning_rate():
    x = parameter()
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 0.1})
    trainer.set_learning_rate(0.2)
    assert trainer.learning_rate == trainer.optimizer.learning_rate == 0.2
    scheduled = gluon.Trainer(
        [x], mx.optimizer.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(1))
    )
    with pytest.raises(UserWarning, match="LRScheduler"):
        scheduled.set_learning_rate(1)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_states_survive_a_file(tmp_path, optimizer):
    path = str(tmp_path / "trainer.states")

    def trained(steps, reload_after=None):
        x = parameter()
        settings = {"learning_rate": 0.1, **({"momentum": 0.9} if optimizer == "sgd" else {})}
        trainer = gluon.Trainer([x], optimizer, settings)
        for step in range(steps):
            if step == reload_after:
                trainer.save_states(path)
                trainer = gluon.Trainer([x], optimizer, settings)
                trainer.load_states(path)
            backward(x, factor=step + 1)
            trainer.step(1)
        return x.data().asnumpy()

    np.testing.assert_array_equal(trained(4), trained(4, reload_after=2))


def test_states_follow_the_context(tmp_path):
    path = str(tmp_path / "trainer.states")
    x = parameter()
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1, "momentum": 0.5})
    backward(x)
    trainer.step(1)
    trainer.save_states(path)
    x.reset_ctx(mx.cpu(1))
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1, "momentum": 0.5})
    trainer.load_states(path)
    backward(x)
    trainer.step(1)
    assert x.data().asnumpy().tolist() == [-2.5, -2.5]


@pytest.mark.parametrize("name", ["sgd", "adam", "lamb"])
def test_arguments_that_an_optimizer_lacks(name):
    with pytest.raises(TypeError, match=f"{name} has no argument 'lr'; there are.*learning_rate"):
        gluon.Trainer([parameter()], name, {"lr": 0.1})
    with pytest.raises(TypeError, match="'learning_rat'; did you mean 'learning_rate'"):
        gluon.Trainer([parameter()], name, {"learning_rat": 0.1})


def test_refused_arguments():
    x = parameter()
    with pytest.raises(ValueError, match="must be a list or dict of Parameters, got Parameter"):
        gluon.Trainer(x, "sgd")
    with pytest.raises(ValueError, match="got list of int"):
        gluon.Trainer([1], "sgd")
    with pytest.raises(AssertionError, match="optimizer_params must be None"):
        gluon.Trainer([x], mx.optimizer.SGD(), {"learning_rate": 1})
    with pytest.raises(ValueError, match="kvstore must be"):
        gluon.Trainer([x], "sgd", kvstore="carrier_pigeon")
    with pytest.raises(ValueError, match="Cannot find optimizer"):
        gluon.Trainer([x], "no_such_optimizer")
    elsewhere = parameter("y", contexts=[mx.cpu(1)])
    with pytest.raises(AssertionError, match="same set of contexts"):
        gluon.Trainer([x, elsewhere], "sgd")
    with pytest.raises(RuntimeError, match="has not been initialized: call initialize"):
        gluon.Trainer([gluon.Parameter("empty", shape=(2,))], "sgd")


@pytest.mark.parametrize("contexts", [[mx.cpu(0)], [mx.cpu(0), mx.cpu(1)]])
@pytest.mark.parametrize("kind", ["device", "teststore"])
def test_stores_given_as_objects(kind, contexts):
    """The sum over contexts, computed by a store of this process or another one."""
    x = gluon.Parameter("x", shape=(2,))
    x.initialize(init="ones", ctx=contexts)
    store, calls = mx.kv.create(kind), []
    pushpull = store.pushpull
    store.pushpull = lambda *a, **k: calls.append((a[0], k)) or pushpull(*a, **k)
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1}, kvstore=store)
    with mx.autograd.record():
        losses = [x.data(ctx) * (i + 1) for i, ctx in enumerate(contexts)]
    mx.autograd.backward(losses)
    trainer.step(1)
    expected = [0, 0] if len(contexts) == 1 else [-2, -2]
    for ctx in contexts:
        assert x.data(ctx).asnumpy().tolist() == expected
    ((index, settings),) = calls
    assert index == 0 and settings.pop("priority") == 0
    assert list(settings) == ([] if kind == "teststore" else ["out"])


def test_the_environment_decides_where_updates_happen(monkeypatch):
    x = gluon.Parameter("x", shape=(2,))
    x.initialize(init="ones", ctx=[mx.cpu(0), mx.cpu(1)])
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    for asked, actual in ((None, False), (True, True)):
        trainer = gluon.Trainer([x], "sgd", update_on_kvstore=asked)
        trainer._init_kvstore()
        assert trainer._update_on_kvstore == actual


@pytest.mark.parametrize("update_on_kvstore", [True, False])
def test_compressed_gradients(update_on_kvstore):
    """The weights are those of real MXNet 1.9.1."""
    contexts = [mx.cpu(0), mx.cpu(1)]
    x = gluon.Parameter("x", shape=(2,))
    x.initialize(init="ones", ctx=contexts)
    trainer = gluon.Trainer(
        [x],
        "sgd",
        {"learning_rate": 1},
        update_on_kvstore=update_on_kvstore,
        compression_params={"type": "2bit", "threshold": 0.5},
    )
    for expected in (0.5, -0.5, -1.0):
        with mx.autograd.record():
            losses = [x.data(ctx) * 0.3 * (i + 1) for i, ctx in enumerate(contexts)]
        mx.autograd.backward(losses)
        trainer.step(1)
        assert [a.asnumpy().tolist() for a in x.list_data()] == [[expected] * 2] * 2


def test_states_of_an_optimizer_in_the_store(tmp_path):
    file, results = str(tmp_path / "states"), []
    for fresh in (True, False):
        x = parameter(contexts=[mx.cpu(0), mx.cpu(1)])
        trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1, "momentum": 0.5})
        backward(x)
        trainer.step(1)
        assert trainer._update_on_kvstore
        if fresh:
            trainer.save_states(file)
        else:
            trainer.set_learning_rate(7)
            trainer.load_states(file)
            assert trainer.learning_rate == 1
        backward(x)
        trainer.step(1)
        results.append(x.data(mx.cpu(1)).asnumpy().tolist())
    assert results == [[-5, -5]] * 2


def test_user_defined_store_that_runs_the_optimizer():
    class Plugin(mx.kv.KVStoreBase):
        weights = {}

        def broadcast(self, key, value, out, priority=0):
            self.weights[key] = value.copy()
            for array in out:
                array[:] = value.as_in_context(array.context)

        def pushpull(self, key, value, out=None, priority=0):
            total = sum((v.as_in_context(value[0].context) for v in value[1:]), value[0])
            self.updater(key, total, self.weights[key])
            for array in out:
                array[:] = self.weights[key].as_in_context(array.context)

        @staticmethod
        def is_capable(capability):
            return capability == mx.kv.KVStoreBase.OPTIMIZER

        def set_optimizer(self, optimizer):
            self.updater = mx.optimizer.get_updater(optimizer)

    x = parameter(contexts=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1}, kvstore=Plugin())
    backward(x)
    trainer.step(1)
    assert [a.asnumpy().tolist() for a in x.list_data()] == [[-2, -2]] * 2
    Plugin.is_capable = staticmethod(lambda capability: False)
    refused = gluon.Trainer([x], "sgd", kvstore=Plugin(), update_on_kvstore=True)
    with pytest.raises(ValueError, match="set update_on_kvstore=False when training with .*Plugin"):
        refused.step(1)


def test_stores_for_several_machines_are_refused_at_once():
    with pytest.raises(ValueError, match="got 'nccl'.*NVIDIA"):
        gluon.Trainer([parameter()], "sgd", kvstore="nccl")


def test_subclasses_may_add_up_gradients_themselves():
    class Doubling(gluon.Trainer):
        def _allreduce_grads(self):
            for parameter in self._params:
                for gradient in parameter.list_grad():
                    gradient *= 2

    x = parameter()
    trainer = Doubling([x], "sgd", {"learning_rate": 1}, kvstore=None)
    backward(x)
    trainer.step(1)
    assert x.data().asnumpy().tolist() == [-2, -2]
    assert trainer._contexts == [mx.cpu()] and trainer._kvstore is None


@pytest.mark.parametrize("contexts", [[mx.cpu(0)], [mx.cpu(0), mx.cpu(1)]])
def test_programs_that_start_the_store_themselves(contexts):
    """As Sockeye and the trainers of Horovod and BytePS do, by these names."""
    x, late = (
        gluon.Parameter("x", shape=(2,)),
        gluon.Parameter("late", shape=(0,), allow_deferred_init=True),
    )
    x.initialize(init="ones", ctx=contexts)
    late.initialize(init="ones", ctx=contexts)
    trainer = gluon.Trainer([late, x], "sgd", {"learning_rate": 1, "momentum": 0.5})
    assert not trainer._kv_initialized and trainer._params_to_init == [late, x]
    trainer._init_kvstore()
    assert trainer._kv_initialized and (trainer._kvstore is None) == (len(contexts) == 1)
    trainer._init_params()
    assert trainer._params_to_init == [late]
    late.shape = (3,)
    late._finish_deferred_init()
    trainer._init_params()
    assert trainer._params_to_init == []


def test_a_single_context_needs_no_store():
    x = parameter()
    trainer = gluon.Trainer([x], "sgd")
    assert trainer._contexts == [mx.cpu()] and len(trainer._updaters) == 1
    trainer._init_kvstore()
    assert trainer._kvstore is None and trainer._update_on_kvstore is None
    assert trainer._distributed is False


@pytest.mark.parametrize("store", ["local", "device"])
@pytest.mark.parametrize("how", ["set_data", "load"])
def test_new_values_reach_the_store_that_updates_weights(store, how, tmp_path):
    """A store with the optimizer holds a copy of the weights, used by the next step."""
    x = parameter(contexts=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1, "momentum": 0.5}, kvstore=store)
    backward(x)
    trainer.step(1)
    assert trainer._update_on_kvstore and trainer._kvstore.type == store
    if how == "set_data":
        x.set_data(mx.nd.array([5, 5]))
    else:
        mx.nd.save(str(tmp_path / "x"), {"x": mx.nd.array([5, 5])})
        parameters = gluon.ParameterDict()
        parameters.update({"x": x})
        parameters.load(str(tmp_path / "x"))
    assert trainer._kvstore is None and not trainer._kv_initialized
    backward(x)
    trainer.step(1)
    assert [a.asnumpy().tolist() for a in x.list_data()] == [[3, 3]] * 2


def test_sparse_parameters_have_one_trainer():
    dense, sparse = parameter(), gluon.Parameter("s", shape=(2,), stype="row_sparse")
    first, second = (gluon.Trainer([parameter()], "sgd") for _ in range(2))
    for trainer in (first, second, None):
        dense._set_trainer(trainer)
        assert dense._trainer is trainer
    sparse._set_trainer(first)
    sparse._set_trainer(first)
    with pytest.raises(RuntimeError, match="only one"):
        sparse._set_trainer(second)
    sparse._set_trainer(None)
    sparse._set_trainer(second)


def test_user_defined_weight_sharing():
    seen = []

    class Shares(gluon.Trainer):
        def _init_params(self):
            seen.extend(parameter.name for parameter in self._params_to_init)
            self._params_to_init = []

    x = gluon.Parameter("x", shape=(2,))
    x.initialize(init="ones")
    trainer = Shares([x], "sgd", {"learning_rate": 1}, kvstore=None)
    for _ in range(2):
        with mx.autograd.record():
            loss = x.data().sum()
        loss.backward()
        trainer.step(1)
    assert seen == ["x"]
    assert x.data().asnumpy().tolist() == [-1, -1]
