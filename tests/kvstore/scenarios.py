"""Scenarios for stores of one process, for any package with MXNet's interface.

`tests/data/make_kvstore_golden.py` stores real MXNet's results; `test_golden.py` runs mxcy.
"""

import numpy as np

SHAPE = (3, 4)


def arrays(mx, draw, count, devices=1):
    """Random arrays, on one device after the other."""
    made = [mx.nd.array(draw.uniform(-1, 1, SHAPE), ctx=mx.cpu(i % devices)) for i in range(count)]
    return made[0] if devices == 1 and count == 1 else made


def pulled(mx, store, keys):
    """The values of keys, as lists."""
    out = [mx.nd.zeros(SHAPE) for _ in keys]
    store.pull(keys, out=out)
    return [array.asnumpy().tolist() for array in out]


def kinds(mx, name):
    """A store's description of itself."""
    store = mx.kv.create(name)
    return [store.type, store.rank, store.num_workers, store.is_capable("optimizer")]


def pushes(mx, name):
    """Values of several devices, one key and many, with and without an updater."""
    draw, store, result = np.random.RandomState(0), mx.kv.create(name), []
    store.init("a", arrays(mx, draw, 1))
    store.init(["b", "c"], arrays(mx, draw, 2))
    result.append(pulled(mx, store, ["a", "b", "c"]))
    store.push("a", arrays(mx, draw, 3, 3))
    store.push(["b", "c"], [arrays(mx, draw, 2, 2), arrays(mx, draw, 2, 2)])
    result.append(pulled(mx, store, ["a", "b", "c"]))
    store.push(["b", "b", "c"], arrays(mx, draw, 3))  # a key twice
    result.append(pulled(mx, store, ["b", "b", "c"]))
    out = [mx.nd.zeros(SHAPE, ctx=mx.cpu(i)) for i in range(2)]
    store.pushpull("a", arrays(mx, draw, 2, 2), out=out, priority=3)
    result.append([array.asnumpy().tolist() for array in out])
    values = arrays(mx, draw, 2, 2)
    store.pushpull("c", values)
    result.append([array.asnumpy().tolist() for array in values])
    store.broadcast("d", arrays(mx, draw, 1), out=out)
    result.append([array.asnumpy().tolist() for array in out])
    return result


def updater(mx, name):
    """Values stored by an updater function, and the keys it saw."""
    draw, store, seen = np.random.RandomState(0), mx.kv.create(name), []
    store.init(["a", "b", "c"], arrays(mx, draw, 3))

    def change(key, pushed, stored):
        seen.append(key)
        stored += 2 * pushed

    store._set_updater(change)
    store.push("a", arrays(mx, draw, 3, 3))
    store.push(["c", "b", "c"], arrays(mx, draw, 3))
    return [pulled(mx, store, ["a", "b", "c"]), len(seen)]


def optimizers(mx, name):
    """Weights after five pushes through several optimizers."""
    result = []
    for optimizer, settings in (
        ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
        ("adam", {"learning_rate": 0.1}),
        ("rmsprop", {"learning_rate": 0.1, "centered": True}),
    ):
        draw, store = np.random.RandomState(1), mx.kv.create(name)
        store.init([3, 5], arrays(mx, draw, 2))
        store.set_optimizer(mx.optimizer.create(optimizer, **settings))
        for _ in range(5):
            store.push([3, 5], [arrays(mx, draw, 2, 2), arrays(mx, draw, 2, 2)])
        result.append(pulled(mx, store, [3, 5]))
    return result


def compression(mx):
    """Rounded gradients of two devices, over five pushes, with and without an optimizer."""
    result = []
    for settings in ({"type": "2bit", "threshold": 0.5}, {"type": "2bit", "threshold": 0.2}):
        for optimizer in (False, True):
            draw, store = np.random.RandomState(2), mx.kv.create("device")
            store.set_gradient_compression(settings)
            store.init("w", mx.nd.zeros(SHAPE))
            if optimizer:
                store.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.1))
            for _ in range(5):
                store.push("w", arrays(mx, draw, 2, 2))
                result.append(pulled(mx, store, ["w"]))
    return result


def trained(mx, kvstore, on_store, optimizer="sgd"):
    """A Gluon network trained on two devices through a store."""
    mx.random.seed(4)
    draw = np.random.RandomState(3)
    net = mx.gluon.nn.Dense(2, in_units=4, prefix="dense_")
    devices = [mx.cpu(0), mx.cpu(1)]
    net.initialize(mx.init.Xavier(), ctx=devices)
    trainer = mx.gluon.Trainer(
        net.collect_params(),
        optimizer,
        {"learning_rate": 0.1},
        kvstore=kvstore,
        update_on_kvstore=on_store,
    )
    losses = []
    for _ in range(5):
        parts = [mx.nd.array(draw.uniform(-1, 1, (3, 4)), ctx=device) for device in devices]
        with mx.autograd.record():
            actual = [(net(part) - part[:, :2]).square().sum() for part in parts]
        mx.autograd.backward(actual)
        trainer.step(6)
        losses.append(float(sum(loss.asscalar() for loss in actual)))
    weights = [net.weight.data(device).asnumpy().tolist() for device in devices]
    return [losses, weights]


SCENARIOS = {}
for _name in ("local", "device", "local_allreduce_device", "LOCAL"):
    SCENARIOS[f"kinds {_name}"] = lambda mx, name=_name: kinds(mx, name)
for _name in ("local", "device"):
    SCENARIOS[f"pushes {_name}"] = lambda mx, name=_name: pushes(mx, name)
    SCENARIOS[f"updater {_name}"] = lambda mx, name=_name: updater(mx, name)
    SCENARIOS[f"optimizers {_name}"] = lambda mx, name=_name: optimizers(mx, name)
    for _on_store in (True, False):
        SCENARIOS[f"trained {_name} {_on_store}"] = lambda mx, name=_name, on_store=_on_store: (
            trained(mx, name, on_store)
        )
SCENARIOS["compression"] = compression
SCENARIOS["trained teststore"] = lambda mx: trained(mx, "teststore", False, "adam")
