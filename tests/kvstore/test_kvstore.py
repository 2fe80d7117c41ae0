"""Stores of one process, with the results of real MXNet 1.9.1."""

import pickle
import sys
import types

import numpy as np
import pytest

import mxcy as mx

KINDS = ("local", "local_update_cpu", "local_allreduce_cpu", "device", "local_allreduce_device")


def ones(number=1.0, device=0):
    return mx.nd.full((2, 2), number, ctx=mx.cpu(device))


def pulled(store, key):
    out = mx.nd.zeros((2, 2))
    store.pull(key, out=out)
    assert len(set(out.asnumpy().ravel().tolist())) == 1
    return out[0, 0].asscalar()


@pytest.mark.parametrize("kind", KINDS)
def test_pushed_values_are_added_up_and_replace(kind):
    store = mx.kv.create(kind.upper())
    assert (store.type, store.rank, store.num_workers) == (kind, 0, 1)
    store.init(3, ones())
    assert pulled(store, 3) == 1
    store.push(3, ones(8))
    assert pulled(store, 3) == 8
    store.push(3, [ones(i, i) for i in range(4)])
    assert pulled(store, 3) == 6


def test_lists_of_keys():
    store = mx.kv.create()
    store.init(["a", "b"], [ones(), ones()])
    store.push(["a", "b"], [[ones(2), ones(2, 1)], [ones(5)]])
    outs = [[ones(0, i) for i in range(2)], [ones(0)]]
    store.pull(["a", "b"], out=outs)
    assert [[array[0, 0].asscalar() for array in part] for part in outs] == [[4, 4], [5]]


def test_pushed_values_are_copied():
    store = mx.kv.create()
    store.init("a", ones())
    gradient = ones(2)
    store.push("a", gradient)
    gradient[:] = 7
    assert pulled(store, "a") == 2


def test_an_updater_changes_the_stored_values():
    store, calls = mx.kv.create(), []

    def updater(key, pushed, stored):
        calls.append(key)
        stored += pushed * 2

    store._set_updater(updater)
    store.init(3, ones())
    store.push(3, [ones(), ones()])
    assert pulled(store, 3) == 5 and calls == [3]
    out = ones(0)
    store.pushpull(3, ones(), out=out)
    assert out[0, 0].asscalar() == 7
    gradient = ones()
    store.pushpull(3, gradient)
    assert gradient[0, 0].asscalar() == 9


def test_broadcast():
    store, outs = mx.kv.create("device"), [ones(0), ones(0, 1)]
    store.broadcast("a", ones(3), out=outs)
    assert [array[0, 0].asscalar() for array in outs] == [3, 3]
    with pytest.raises(mx.MXNetError, match="duplicate init of key a"):
        store.broadcast("a", ones(), out=outs)


def test_optimizers_and_their_states(tmp_path):
    file = str(tmp_path / "states")
    store = mx.kv.create("device")
    with pytest.raises(AssertionError, match="no optimizer"):
        store.save_optimizer_states(file)
    store.set_optimizer(mx.optimizer.SGD(momentum=0.9, learning_rate=0.1))
    store.init("w", ones())
    store.push("w", ones()), store.push("w", ones())
    assert pulled(store, "w") == pytest.approx(0.71)
    store.save_optimizer_states(file)
    store.push("w", ones())
    assert pulled(store, "w") == pytest.approx(0.439)
    again = mx.kv.create()
    again.set_optimizer(mx.optimizer.SGD(momentum=0.9, learning_rate=0.1))
    again.init("w", ones(0.71))
    again.load_optimizer_states(file)
    again.push("w", ones())
    assert pulled(again, "w") == pytest.approx(0.439)


# What devices 0 and 1 send for the gradient [.6, -.7, .2, .3] with the threshold 0.5, added up;
# then what device 0 sends alone. From real MXNet 1.9.1.
TWO_BITS = [
    [1, -1, 0, 0],
    [0.5, -0.5, 0, 0.5],
    [1, -1, 0.5, 0.5],
    [0.5, -0.5, 0, 0.5],
    [1, -1, 1, 0.5],
    [0.5, -0.5, 0, 0],
]


def test_two_bits():
    store, out = mx.kv.create("device"), mx.nd.zeros(4)
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init("a", out)
    gradient = mx.nd.array([0.6, -0.7, 0.2, 0.3])
    for number, expected in enumerate(TWO_BITS):
        store.push("a", [gradient] * (2 - number % 2))
        store.pull("a", out=out)
        np.testing.assert_allclose(out.asnumpy(), expected)


def test_onebit_compression():
    """1 above the threshold, else -1; the rounding error is sent later."""
    store, out = mx.kv.create("device"), mx.nd.zeros(4)
    store.set_gradient_compression({"type": "1bit", "threshold": 0.5})
    store.init("a", out)
    for expected in ([1, -1, -1, -1], [-1, -1, 1, 1]):
        store.push("a", mx.nd.array([0.6, -0.7, 0.2, 0.3]))
        store.pull("a", out=out)
        np.testing.assert_allclose(out.asnumpy(), expected)


def test_compression_refusals():
    with pytest.raises(Exception, match="not supported for this type of kvstore"):
        mx.kv.create("local").set_gradient_compression({"type": "2bit"})
    with pytest.raises(mx.MXNetError, match="Unknown type for gradient compression 3bit"):
        mx.kv.create("device").set_gradient_compression({"type": "3bit"})
    with pytest.raises(mx.MXNetError, match="greater than 0"):
        mx.kv.create("device").set_gradient_compression({"type": "2bit", "threshold": 0})


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.init("a", ones()), mx.MXNetError, "duplicate init of key a"),
        (lambda s: s.init(3, ones()), mx.MXNetError, "Mixed key types"),
        (lambda s: s.pull("z", out=ones()), mx.MXNetError, "key z has not been inited"),
        (lambda s: s.push("z", ones()), mx.MXNetError, "key z has not been inited"),
        (lambda s: s.push("a", 5), TypeError, "key a: expected an NDArray"),
        (lambda s: s.push("a", mx.nd.zeros(3)), mx.MXNetError, r"shape \(2, 2\), got \(3,\)"),
        (lambda s: s.pull("a", out=mx.nd.zeros(3)), mx.MXNetError, r"shape \(2, 2\)"),
        (lambda s: s.pull("a"), AssertionError, "out"),
        (lambda s: s.init(1.5, ones()), AssertionError, "unexpected type for keys"),
        (lambda s: s.init(["b", 1], [ones()] * 2), AssertionError, "inconsistent types"),
        (lambda s: s.init(["b", "c"], [ones()]), AssertionError, "2 keys, but 1 values"),
        (lambda s: s.set_optimizer("sgd"), TypeError, "expected an Optimizer .* got 'sgd'"),
        (lambda s: s.is_capable("flying"), ValueError, "Unknown capability"),
        (pickle.dumps, pickle.PicklingError, "belongs to its process"),
    ],
)
def test_refusals(call, error, message):
    store = mx.kv.create()
    store.init("a", ones())
    with pytest.raises(error, match=message):
        call(store)


def test_kinds():
    with pytest.raises(TypeError, match="name must be a string"):
        mx.kv.create(5)
    with pytest.raises(mx.MXNetError, match="there is no key-value store 'moon'"):
        mx.kv.create("moon")


@pytest.mark.parametrize(("name", "purpose"), [("p3", "several machines"), ("NCCL", "GPUs")])
def test_kinds_for_several_processes_are_refused(name, purpose):
    with pytest.raises(mx.MXNetError, match=f"cannot add up .*{purpose}.*choose one of"):
        mx.kv.create(name)


def test_registered_store_classes():
    @mx.kv.KVStoreBase.register
    class Doubling(mx.kv.KVStoreBase):
        def broadcast(self, key, value, out, priority=0):
            out[:] = value * 2

        @staticmethod
        def is_capable(capability):
            return False

    with pytest.warns(UserWarning, match="Doubling is overriding existing kvstore"):
        mx.kv.KVStoreBase.register(Doubling)
    out = ones(0)
    mx.kv.create("doubling").broadcast("a", ones(3), out)
    assert out[0, 0].asscalar() == 6
    with pytest.raises(NotImplementedError, match="Doubling has no pushpull"):
        mx.kv.create("doubling").pushpull("a", out)
    del mx.kv.KVStoreBase.kv_registry["doubling"]


def test_the_smallest_kind():
    store, out = mx.kv.create("teststore"), ones(0)
    assert (store.type, store.rank, store.num_workers) == ("teststore", 0, 1)
    assert not store.is_capable(mx.kv.KVStoreBase.OPTIMIZER)
    store.broadcast("a", ones(2), out)
    assert out[0, 0].asscalar() == 2
    store.pushpull("a", [ones(), ones(2, 1)], out=[out])
    assert out[0, 0].asscalar() == 3


class _FakeLibrary(types.ModuleType):
    """A fake Horovod or BytePS with two processes; the other one has the same arrays."""

    def __init__(self, number):
        super().__init__("library")
        self.number, self.started, self.declared = number, 0, []

    def init(self):
        self.started += 1

    def rank(self):
        return self.number

    def local_rank(self):
        return self.number

    def size(self):
        return 2

    def broadcast(self, tensor, root_rank, name, priority):
        return tensor if self.number == root_rank else tensor + 1

    def allreduce(self, tensor, average, name, priority):
        return tensor * (1 if average else 2)

    def allreduce_(self, tensor, average, name, priority):
        tensor *= 1 if average else 2

    def byteps_declare_tensor(self, name):
        self.declared.append(name)

    def byteps_push_pull(self, tensor, version, priority, name, is_average):
        assert name in self.declared and not is_average
        tensor *= 2


def _library(monkeypatch, package, number):
    library = _FakeLibrary(number)
    outer = types.ModuleType(package)
    outer.mxnet = library
    monkeypatch.setitem(sys.modules, package, outer)
    monkeypatch.setitem(sys.modules, f"{package}.mxnet", library)
    return library


@pytest.mark.parametrize("name", ["horovod", "byteps"])
def test_libraries_for_several_processes(name, monkeypatch):
    library = _library(monkeypatch, name, 0)
    store = mx.kv.create(name)
    assert library.started == 1 and store.type == name
    assert (store.rank, store.local_rank, store.num_workers) == (0, 0, 2)
    assert not store.is_capable(mx.kv.KVStoreBase.OPTIMIZER)
    value, out = mx.nd.array([1, 2]), mx.nd.zeros(2)
    store.pushpull("w", value, out=out)
    assert value.asnumpy().tolist() == [1, 2] and out.asnumpy().tolist() == [2, 4]
    store.pushpull(3, value)
    assert value.asnumpy().tolist() == [2, 4]
    if name == "horovod":
        store.broadcast("w", value, out=[out])
        assert out.asnumpy().tolist() == [2, 4]
        store.set_optimizer(None)
    else:
        with pytest.raises(AssertionError, match="a list of one"):
            store.pushpull("w", [value, value])
        with pytest.raises(NotImplementedError):
            store.set_optimizer(None)


@pytest.mark.parametrize("name", ["horovod", "byteps"])
def test_processes_of_mpi_in_place_of_the_libraries(name):
    store = mx.kv.create(name)
    assert (store.rank, store.local_rank, store.num_workers, store.type) == (0, 0, 1, name)
    value, out = mx.nd.array([1, 2]), mx.nd.zeros(2)
    store.broadcast("w", value, out)
    assert out.asnumpy().tolist() == [1, 2]
    store.pushpull("w", value * 3, out=out)
    assert out.asnumpy().tolist() == [3, 6]
    store.pushpull("w", value)
    assert value.asnumpy().tolist() == [1, 2]


def test_values_come_from_the_first_process(monkeypatch):
    _library(monkeypatch, "byteps", 1)
    value, out = mx.nd.array([1, 2]), mx.nd.ones(2)
    mx.kv.BytePS().broadcast("w", value, out=out)  # nobody adds the first process's value here
    assert out.asnumpy().tolist() == [0, 0] and value.asnumpy().tolist() == [1, 2]


def test_trainer_adds_up_over_processes(monkeypatch):
    _library(monkeypatch, "horovod", 0)
    net = mx.gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore=mx.kv.Horovod()
    )
    with mx.autograd.record():
        loss = net(mx.nd.array([[1, 3]])).sum()
    loss.backward()
    trainer.step(2)  # for the batches of both processes
    assert net.weight.data().asnumpy().tolist() == [[0, -2]]


def test_a_store_of_one_process_needs_no_server():
    store = mx.kv.create("local")
    server = mx.kvstore_server.KVStoreServer(store)
    assert server.kvstore is store and server.handle is store.handle
    with pytest.raises(mx.MXNetError, match="KVStoreServer.run: this process is a worker"):
        server.run()
