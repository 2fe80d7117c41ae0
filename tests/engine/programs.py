"""Programs that tests run under each engine; their output must not depend on it."""

import hashlib
import threading

import numpy as np

import mxcy as mx
from mxcy import autograd, gluon

__all__ = ["failures", "networks", "threads", "train"]


def digest(arrays):
    """A hash of the bits of arrays."""
    actual = hashlib.sha256()
    for array in arrays:
        actual.update(np.ascontiguousarray(array.asnumpy()).tobytes())
    return actual.hexdigest()[:16]


def train():
    """Train a small network with dropout, normalisation and momentum, eagerly and hybridized."""
    for hybrid in (False, True):
        mx.random.seed(3)
        np.random.seed(3)
        net = gluon.nn.HybridSequential()
        net.add(
            gluon.nn.Conv2D(8, 3, activation="relu"),
            gluon.nn.BatchNorm(),
            gluon.nn.Dropout(0.3),
            gluon.nn.Dense(16, activation="tanh"),
            gluon.nn.Dense(5),
        )
        net.initialize(mx.init.Xavier())
        if hybrid:
            net.hybridize()
        options = {"learning_rate": 0.1, "momentum": 0.9}
        trainer = gluon.Trainer(net.collect_params(), "sgd", options)
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        losses = []
        for _ in range(6):
            data = mx.nd.random.uniform(-1, 1, (16, 3, 12, 12))
            label = mx.nd.random.randint(0, 5, (16,))
            with autograd.record():
                value = loss(net(data), label)
            value.backward()
            trainer.step(16)
            losses.append(value)
        weights = [p.data() for p in net.collect_params().values()]
        print(hybrid, digest(losses), digest(weights))


def networks():
    """Bind a symbol and run it forwards and backwards, again after its weights changed."""
    mx.random.seed(5)
    data = mx.sym.var("data")
    hidden = mx.sym.FullyConnected(data, num_hidden=300, name="one")
    hidden = mx.sym.Activation(hidden, act_type="relu")
    out = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(hidden, num_hidden=4, name="two"))
    executor = out.simple_bind(mx.cpu(), data=(64, 500), grad_req="write")
    for array in executor.arg_arrays:
        mx.nd.random.uniform(-0.1, 0.1, array.shape, out=array)
    for _ in range(5):
        executor.forward(is_train=True)
        executor.backward()
        for array, gradient in zip(executor.arg_arrays, executor.grad_arrays, strict=True):
            array -= 0.01 * gradient
    print(digest(executor.outputs), digest(executor.arg_arrays))
    executor.forward(is_train=False)
    print(digest(executor.outputs))


def threads(count=8, operations=10000):
    """Each of some threads runs random operations that depend on each other, and on constants; all
    add integers to a few arrays, for which the order does not matter.
    """
    constants = [mx.nd.array(np.random.RandomState(i).rand(4, 16)) for i in range(4)]
    sums = [mx.nd.zeros((4, 16)) for _ in range(3)]
    one = mx.nd.ones((4, 16))
    results = [None] * count

    def work(number):
        rng = np.random.RandomState(100 + number)
        arrays = [mx.nd.array(rng.rand(4, 16)) for _ in range(6)]
        for kind, i, j, k in rng.randint(0, (12, 6, 6, 4), (operations, 4)).tolist():
            if kind == 0:
                arrays[i] = arrays[j] + constants[k]
            elif kind == 1:
                arrays[i] = arrays[j] * 0.5
            elif kind == 2:
                arrays[i] -= arrays[j]
            elif kind == 3:
                arrays[i] = mx.nd.tanh(arrays[j])
            elif kind == 4:
                mx.nd.broadcast_maximum(arrays[j], constants[k], out=arrays[i])
            elif kind == 5:
                arrays[i][k] = 0.25
            elif kind == 6:
                arrays[i] = mx.nd.dot(arrays[j], constants[k], transpose_b=True).tile((1, 4)) / 9
            elif kind == 7:
                arrays[i][1:3] = arrays[j][2:4]
            elif kind == 8:
                sums[k % 3] += one
            elif kind == 9:
                arrays[i] = arrays[i].copy()
            elif kind == 10:
                arrays[i] = mx.nd.concat(arrays[i][2:], arrays[j][:2], dim=0)
            elif k == 0 and j == 0:
                arrays[i] = mx.nd.array(arrays[i].asnumpy() / 2)
        results[number] = arrays

    workers = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(digest([array for arrays in results for array in arrays]), digest(sums))


def failures(number=1000):
    """Run operations of which every third fails; prints which errors surfaced, and how often."""
    numbers = [-i if i % 3 == 0 else i for i in range(1, number * 3 + 1)]
    arrays = [mx.nd.random.normal(0, n, (2,)) for n in numbers]
    arrays = [array + 1 for array in arrays]
    surfaced = []
    for n, array in zip(numbers, arrays, strict=True):
        try:
            array.wait_to_read()
        except mx.MXNetError as error:
            surfaced.append(str(error))
            assert f"scale > 0 is required, got 0 and {n} " in str(error)
        else:
            assert n > 0
    mx.nd.waitall()  # all have been raised
    print(len(surfaced), len(set(surfaced)))
