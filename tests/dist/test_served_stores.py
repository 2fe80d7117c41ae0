"""Stores with values on servers: types, optimizers, commands, states, processes."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.servers.shares import Share
from tests.dist.jobs import job, needs_mpi


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
    """The server ends with the reason; no process hangs."""
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
    """The process manager ends the others; no process hangs."""
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


_PROFILE = r"""
import json, os
import mxcy as mx
store = mx.kv.create("KIND")
store.init("w", mx.nd.zeros(4))
store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
names = [os.path.join("FOLDER", name) for name in ("rank0_trace.json", "rank1_trace.json")]
if store.rank == 0:
    if EXPLICIT:
        mx.profiler.set_kvstore_handle(store.handle)
    mx.profiler.set_config(
        profile_all=True, filename=os.path.join("FOLDER", "trace.json"), profile_process="server"
    )
    mx.profiler.set_state("run", profile_process="server")
    for _ in range(3):
        store.pushpull("w", mx.nd.ones(4), out=mx.nd.zeros(4))
        mx.nd.waitall()
    mx.profiler.set_state("stop", profile_process="server")
    events = []
    for name in names:  # both can be read at once
        with open(name) as file:
            events += json.load(file)["traceEvents"]
    updates = [e for e in events if e["name"] == "sgd_update" and e["ph"] == "B"]
    assert len(updates) == UPDATES, [e["name"] for e in events]
    mx.profiler.dump(profile_process="server")
    try:
        mx.profiler.set_config(nothing=1, profile_process="server")
    except mx.MXNetError as error:
        assert "unknown option 'nothing'" in str(error)
    else:
        raise AssertionError("servers tell what they cannot do")
print("\nright", flush=True)
"""


@needs_mpi
@pytest.mark.parametrize(("kind", "updates"), [("dist_async", 3), ("dist_sync", 0)])
def test_profiles_of_servers(kind, updates, tmp_path):
    code = _PROFILE.replace("KIND", kind).replace("FOLDER", str(tmp_path))
    code = code.replace("UPDATES", str(updates)).replace("EXPLICIT", str(kind == "dist_async"))
    ended = job(1, code, servers=2)
    assert (ended.code, ended.lines) == (0, ["right"]), ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "rank0_trace.json",
        "rank1_trace.json",
    ]


def test_stores_without_servers_have_no_profiles():
    store = mx.kv.create("dist_async")
    mx.profiler.set_kvstore_handle(store.handle)
    try:
        assert mx.profiler.control.profiler_kvstore_handle is store.handle
        with pytest.raises(mx.MXNetError, match="that of kind 'dist_async' has none"):
            mx.profiler.set_state("run", profile_process="server")
    finally:
        mx.profiler.set_kvstore_handle(None)


def test_answers_being_sent_keep_the_value_of_their_time():
    """Updates go on with a copy until an answer is on its way; others change the value in place."""
    terms = {"shape": [3], "dtype": "<f4", "weight": "float32", "waits": False}
    share = Share("w", terms, np.ones(3, np.float32).view(np.uint8))
    _, first, sent = share.answer(None, None)
    share.before_change()
    share.value += 1
    assert first.tolist() == [1, 1, 1] and share.value.tolist() == [2, 2, 2]
    sent()
    _, second, sent = share.answer(None, None)
    sent()
    share.before_change()
    assert second is share.value


def test_a_pushed_array_may_change_after_its_push():
    """The array is not written before the push has been sent; several arrays take one value."""
    store = mx.kv.create("dist_async")
    store.init("w", mx.nd.zeros(50000))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
    gradient, outs = mx.nd.ones(50000), [mx.nd.ones(50000) for _ in range(2)]
    for step in range(1, 6):
        store.push("w", gradient)
        gradient[:] = step + 1
        store.pull("w", outs)
        expected = -step * (step + 1) / 2
        assert all((out.asnumpy() == expected).all() for out in outs)
