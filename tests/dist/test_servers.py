"""Values on servers: parts, slices, sums, updates that wait for nobody, and errors."""

import os
import random
import time

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.memory_world import MemoryJob
from mxcy.dist.partition import parts, slices
from mxcy.dist.post_office import PostOffice
from tests.dist.jobs import job, needs_mpi
from tests.dist.servers import run

pytestmark = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="one front is enough"
)


def succeed(results):
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def test_parts():
    assert parts(99, 5, 3, 100) == [(5 * 9973 % 3, 0, 99)]
    assert parts(100, 5, 3, 100) == [(0, 0, 33), (1, 33, 34), (2, 67, 33)]
    assert parts(100, 5, 3, 100, unit=16) == [(0, 0, 32), (1, 32, 32), (2, 64, 36)]
    assert parts(0, 5, 3, 100) == [(5 * 9973 % 3, 0, 0)]


def test_slices(monkeypatch):
    assert slices(100001, 40000, 4, 3) == [(1, 0, 40000), (2, 40000, 40000), (0, 80000, 20001)]
    assert slices(0, 10, 1, 2) == [(1, 0, 0)]
    monkeypatch.setenv("DMLC_PS_VAN_TYPE", "p3")
    monkeypatch.setenv("MXNET_KVSTORE_SLICE_THRESHOLD", "10")
    store = mx.kv.create("dist_sync")
    store.init("w", mx.nd.zeros((5, 5)))
    assert store.stats()["partition"]["w"] == [(0, 0, 10), (0, 10, 10), (0, 20, 5)]
    out = mx.nd.zeros((5, 5))
    store.pushpull("w", mx.nd.arange(25).reshape((5, 5)), out=out)
    assert out.asnumpy().reshape(-1).tolist() == list(range(25))
    assert not store.is_capable("optimizer")
    for refused in (
        lambda: store.set_optimizer(mx.optimizer.SGD()),
        lambda: store._set_updater(print),
        lambda: store.set_gradient_compression({"type": "2bit"}),
        lambda: store.row_sparse_pull("w", out, row_ids=out),
        lambda: mx.kv.create("dist_async"),
    ):
        with pytest.raises(mx.MXNetError, match="p3"):
            refused()


def test_urgent_letters_go_first():
    world = MemoryJob(1, servers=1).worlds[0]
    post, sent = PostOffice(world), []
    world.post = lambda place, head, body: sent.append(head) or _Never()
    for key, priority in enumerate((0, -3, 5, -1)):
        post.send(1, "push", [key], priority=priority, line=key)
    post.send(1, "pull", [1], priority=9, line=1)  # it takes what is before it in its line along
    for _ in range(3):
        post.step(0)
        post._away[1].clear()
    assert [head.decode() for head in sent] == [
        '["push", 1]',
        '["push", 2]',
        '["push", 0]',
        '["push", 3]',
        '["pull", 1]',
    ]


class _Never:
    def done(self):
        return False


@pytest.mark.parametrize("servers", [0, 2])
@pytest.mark.parametrize("seed", [None, 1])
def test_sums_of_slices(servers, seed):
    """Random orders and priorities; each pull has this worker's pushes, rounds do not mix."""
    lengths = {"a": 0, "b": 7, "c": 250, "d": 1000}
    rounds = 4

    def program(worker):
        worker.init(**{key: np.full(length, worker.rank + 1.0) for key, length in lengths.items()})
        draw = random.Random((seed or 0) * 10 + worker.rank)
        assert worker.pull("b").tolist() == [1] * 7
        seen = {key: [] for key in lengths}
        for step in range(rounds):
            for key in sorted(lengths, key=lambda _: draw.random()):
                worker.push(
                    key, np.full(lengths[key], step * 10.0 + worker.rank), draw.randint(-3, 3)
                )
            for key in sorted(lengths, key=lambda _: draw.random()):
                seen[key].append(worker.pull(key))
        return seen

    if not servers:
        program = _hosting(program)
    for seen in succeed(run(3, servers, program, most=100, seed=seed)):
        for key, length in lengths.items():
            assert [got.tolist() for got in seen[key]] == [
                [step * 30.0 + 3] * length for step in range(rounds)
            ]


def _hosting(program):
    """A program whose workers are servers too."""
    from mxcy.dist.key_server import KeyServer
    from mxcy.kvstore.server_rules import ServerRules

    def hosting(worker):
        post = worker.progress.post
        worker.progress.submit(lambda: KeyServer(post, 0, ServerRules(worker.rank)))
        return program(worker)

    return hosting


@pytest.mark.parametrize("seed", [None, 1])
def test_asynchronous_updates(seed):
    """All pushes count, own ones are seen, values never go back, slow workers delay nobody."""

    def program(worker):
        worker.init(a=np.zeros(5, "float32"), b=np.zeros(300, "float32"))
        worker.client.command(0, "", "set_optimizer()", _sgd())
        before = 0
        for step in range(6):
            for key in "ab":
                worker.push(key, np.full(worker.client.keys[key].shape, -1, "float32"))
            values = worker.pull("a")
            assert values.min() == values.max() >= max(before, step + 1)
            assert worker.pull("b").min() >= step + 1
            before = values.max()
        return (
            worker.pull("a")[0],
            worker.progress.call(_barrier(worker), "barrier"),
            worker.pull("b"),
        )

    for mine, _, b in succeed(run(3, 2, program, waits=False, seed=seed)):
        assert mine >= 6 and b.tolist() == [18] * 300


def _sgd():
    from mxcy.kvstore.server_rules import packed

    return packed(mx.optimizer.SGD(learning_rate=1))


def _barrier(worker):
    from mxcy.dist.collectives import barrier

    return barrier(worker.progress.world)


def test_an_asynchronous_worker_that_leaves():
    def program(worker):
        worker.init(a=np.zeros(2, "float32"))
        worker.client.command(0, "", "set_optimizer()", _sgd())
        if worker.rank == 1:
            return None
        time.sleep(0.05)
        for _ in range(5):
            worker.push("a", -np.ones(2, "float32"))
        return worker.pull("a").tolist()

    assert succeed(run(2, 1, program, waits=False)) == [[5, 5], None]


def test_a_worker_that_leaves_before_its_first_push():
    def program(worker):
        worker.init(a=np.zeros(2))
        if worker.rank == 0:
            worker.push("a", np.ones(2))
            worker.pull("a")

    text = "rank 1 (memory) left the job in round 1 of key 'a', which it has not pushed"
    assert text in str(run(2, 2, program)[0])


def test_a_worker_that_leaves_early():
    def program(worker):
        worker.init(a=np.zeros(2))
        for step in range(3):
            if worker.rank == 1 and step == 2:
                return "left"
            worker.push("a", np.ones(2))
            worker.pull("a")

    first, second = run(2, 2, program)
    assert second == "left"
    text = "rank 1 (memory) left the job in round 3 of key 'a', which it has not pushed"
    assert text in str(first)


def test_an_update_that_fails_is_told_to_all():
    def program(worker):
        worker.init(a=np.zeros(2, "float32"))
        worker.push("a", np.ones(2, "float32"))
        worker.pull("a")

    for error in run(2, 1, program, waits=False):
        assert "server 0 (memory): key 'a', update" in str(error)
        assert "there is no optimizer" in str(error)


def test_who_is_waited_for():
    def program(worker):
        worker.init(a=np.zeros(2))
        if worker.rank == 0:
            worker.push("a", np.ones(2))
            worker.pull("a")
        else:
            time.sleep(0.6)

    assert "round 1 of key 'a': rank 1 (memory) has not come there" in str(
        run(2, 1, program, patience=0.2)[0]
    )


def test_a_server_that_does_not_answer():
    world = MemoryJob(1, servers=1).worlds[0]
    post, errors = PostOffice(world, patience=0.01), []
    post.ask(1, "pull", [], lambda error, *_: errors.append(error), "the value of key 'a'")
    post.step(time.monotonic())
    assert not errors
    post.step(time.monotonic() + 10)
    assert "for the value of key 'a': server 0 (memory) does not answer" in errors[0]
    post.fail("MPI failed")
    post.ask(1, "pull", [], lambda error, *_: errors.append(error), "the value")
    assert errors[1] == "MPI failed"


def test_different_keys_are_refused_on_all_workers():
    def program(worker):
        worker.init(a=np.zeros(2 + worker.rank))

    for error in run(2, 1, program):
        assert "rank 0 puts in key 'a' of shape (2,)" in str(error)


# -- stores ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_a_store_of_one_worker(dtype):
    store = mx.kv.create("Dist_Async_Device")
    assert (store.type, store.rank, store.num_workers) == ("dist_async_device", 0, 1)
    store.init("w", mx.nd.ones((2, 3), dtype=dtype))
    out = mx.nd.zeros((2, 3), dtype=dtype)
    with pytest.raises(mx.MXNetError, match="call set_optimizer before the first push"):
        store.push("w", out)
    optimizer = mx.optimizer.SGD(learning_rate=1, multi_precision=True)
    store.set_optimizer(optimizer)
    store.pushpull("w", [mx.nd.ones((2, 3), dtype=dtype)] * 2, out=out)
    assert out.astype("float32").asnumpy().tolist() == [[-1] * 3] * 2
    optimizer.set_learning_rate(2)
    store.pushpull("w", mx.nd.ones((2, 3), dtype=dtype), out=out)
    assert out.astype("float32").asnumpy().tolist() == [[-3] * 3] * 2


def test_keys_and_functions():
    store = mx.kv.create("dist_async")
    store.init(3, mx.nd.zeros(1))
    with pytest.raises(mx.MXNetError, match="duplicate init of key"):
        store.init(3, mx.nd.zeros(1))
    with pytest.raises(mx.MXNetError, match="key 4 has not been inited"):
        store.push(4, mx.nd.zeros(1))
    with pytest.raises(mx.MXNetError, match="dense values only"):
        store.init(5, mx.nd.zeros((2, 2)).tostype("row_sparse"))

    def update(key, pushed, stored):
        if key == 7:
            raise ValueError("no")
        stored += 2 * pushed

    store._set_updater(update)
    store.init([6, 7], [mx.nd.ones(2)] * 2)
    out = mx.nd.zeros(2)
    store.pushpull(6, mx.nd.ones(2), out=out)
    assert out.asnumpy().tolist() == [3, 3]
    store.pushpull(7, mx.nd.ones(2), out=out)
    with pytest.raises(mx.MXNetError, match="key 7, update 1: ValueError: no"):
        out.asnumpy()


def test_a_trainer_updates_on_servers():
    def trained(**options):
        net = mx.gluon.nn.Dense(1, in_units=2)
        net.initialize(mx.init.One())
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", **options)
        for step in range(4):
            with mx.autograd.record():
                loss = net(mx.nd.ones((1, 2)))
            loss.backward()
            if step == 2:
                trainer.set_learning_rate(1)
            trainer.step(1 + step)
        return net.weight.data().asnumpy().tolist()

    assert trained(kvstore="dist_async") == trained(kvstore=None, update_on_kvstore=None)
    with pytest.raises(ValueError, match="update_on_kvstore=True"):
        trained(kvstore="dist_async", update_on_kvstore=False)


def test_commands(capsys):
    mx.kv.create("dist_async")._send_command_to_servers(42, "body")
    assert capsys.readouterr().out == "server 0, unknown command (42, body)\n"


def test_states_and_multipliers(tmp_path):
    """States of all servers are in one file; multipliers of parameters reach the servers."""
    file, gradient, out = str(tmp_path / "states"), mx.nd.ones(4), mx.nd.zeros(4)
    values, value = [], mx.nd.zeros(4)
    for before in (None, file):
        store = mx.kv.create("dist_async")
        store.init(["v", "w"], [mx.nd.zeros(4), value])
        optimizer = mx.optimizer.Adam(learning_rate=0.5)
        optimizer.set_lr_mult({"v": 0.0})
        store.set_optimizer(optimizer)
        if before:
            store.load_optimizer_states(before)
        else:
            store.pushpull("w", gradient, out=out)
            value = out.copy()
            store.save_optimizer_states(file, dump_optimizer=True)
        store.push("v", gradient)
        store.pushpull("w", gradient * 3, out=out)
        values.append(out.asnumpy())
        still = mx.nd.ones(4)
        store.pull("v", still)
        assert still.asnumpy().tolist() == [0] * 4
    assert (values[0] == values[1]).all() and values[0][0] != value.asnumpy()[0]


_ASYNC = r"""
import mxcy as mx, numpy as np
store = mx.kv.create("dist_async")
rank, size = store.rank, store.num_workers
store.init(["w", "big"], [mx.nd.full(4, rank + 1), mx.nd.zeros((30, 10))])
out, big = mx.nd.zeros(4), mx.nd.zeros((30, 10))
store.pull("w", out)
assert out.asnumpy().tolist() == [1] * 4
optimizer = mx.optimizer.SGD(learning_rate=1, momentum=0)
store.set_optimizer(optimizer)
for i in range(5):
    store.push("w", mx.nd.ones(4))
    store.push("big", mx.nd.ones((30, 10)))
    store.pull("big", big)
    assert (big.asnumpy() <= -1 - i).all()
store._settle()
store._barrier()
store.pull(["w", "big"], [out, big])
assert (out.asnumpy() == 1 - 5 * size).all() and (big.asnumpy() == -5 * size).all()
assert len(store.stats()["partition"]["big"]) == SHARES, store.stats()
store._barrier()
if rank:
    store._barrier()
else:
    optimizer.set_learning_rate(100)
    store.push("w", mx.nd.ones(4))
    store._settle()
    store._barrier()
store.pull("w", out)
assert (out.asnumpy() == 1 - 5 * size - 100).all()
print("\nright", flush=True)
"""


@needs_mpi
@pytest.mark.parametrize("servers", [0, 2])
def test_asynchronous_processes(servers):
    code = _ASYNC.replace("SHARES", "2")
    ended = job(2, code, servers=servers, MXNET_KVSTORE_BIGARRAY_BOUND="100")
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


_SLICES = r"""
import mxcy as mx, numpy as np
from mxcy import autograd, gluon
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
draw = np.random.RandomState(0)
inputs, labels = draw.randn(4, 8, 6).astype("float32"), draw.randint(0, 3, (4, 8))
def train(share, seed, kvstore):
    mx.random.seed(seed)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(50, activation="tanh"), gluon.nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net(mx.nd.zeros((1, 6)))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=kvstore)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for data, label in zip(inputs, labels):
        with autograd.record():
            error = loss(net(mx.nd.array(data[share])), mx.nd.array(label[share]))
        error.backward()
        trainer.step(8)
    return [p.data().asnumpy() for p in net.collect_params().values()]
alone = train(slice(0, 8), 3, None)
together = train(slice(4 * rank, 4 * rank + 4), 3, store)
for a, b in zip(alone, together):
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
print("\nright", flush=True)
"""


@needs_mpi
def test_training_by_slices():
    ended = job(2, _SLICES, "--p3", servers=1, MXNET_KVSTORE_SLICE_THRESHOLD="64")
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


@needs_mpi
@pytest.mark.dist_long
def test_an_optimizer_that_no_server_can_read():
    """The server ends with the reason; nobody hangs."""
    code = """
import os, time, mxcy as mx
store = mx.kv.create("dist_async")
store.init("w", mx.nd.zeros(4))
store._send_command_to_servers(0, "no pickle")
"""
    ended = job(2, code, servers=1)
    assert ended.code != 0 and "the optimizer: not a valid pickle" in ended.err


@pytest.mark.dist_long
def test_a_server_that_is_killed():
    """The process manager ends the others; nobody hangs."""
    code = """
import os, pathlib, signal, mxcy as mx
store = mx.kv.create("dist_async")
store.init("w", mx.nd.zeros(4))
store._barrier()
if store.rank == 0:
    parent = os.getppid()
    siblings = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    roles = {pid: pathlib.Path(f"/proc/{pid}/environ").read_bytes() for pid in siblings}
    server, = (int(pid) for pid, text in roles.items() if b"DMLC_ROLE=server" in text)
    os.kill(server, signal.SIGKILL)
out = mx.nd.zeros(4)
for _ in range(1000):
    store.push("w", mx.nd.ones(4))
    store.pull("w", out=out)
    out.wait_to_read()
print("the server lives", flush=True)
"""
    ended = job(2, code, servers=1)
    assert ended.code != 0 and "the server lives" not in ended.out
