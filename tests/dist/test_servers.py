"""Values on servers: parts, slices, sums, asynchronous updates, and errors."""

import random
import time

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.keys.partition import parts, slices
from mxcy.dist.servers.messenger import Messenger
from mxcy.dist.worlds.memory_world import MemoryJob
from tests.dist.servers import run


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
        lambda: store.init("rows", out.tostype("row_sparse")),
        lambda: mx.kv.create("dist_async"),
    ):
        with pytest.raises(mx.MXNetError, match="p3"):
            refused()


def test_urgent_letters_go_first():
    world = MemoryJob(1, servers=1).worlds[0]
    messenger, sent = Messenger(world), []
    world.send_message = lambda place, head, body, given: sent.append(head) or _Never()
    for key, priority in enumerate((0, -3, 5, -1)):
        messenger.send(1, "push", [key], priority=priority, line=key)
    # It also sends what is queued before it.
    messenger.send(1, "pull", [1], priority=9, line=1)
    for _ in range(3):
        messenger.step(0)
        messenger._away[1].clear()
    assert [head.decode() for head in sent] == [
        '["push", 1]',
        '["push", 2]',
        '["push", 0]',
        '["push", 3]',
        '["pull", 1]',
    ]


def test_replies_have_the_priority_of_requests():
    job = MemoryJob(1, servers=1)
    worker, server = Messenger(job.worlds[0]), Messenger(job.servers[0])
    asked, told = [], []
    server.handlers["question"] = lambda place, body, ticket, name: asked.append((ticket, name))
    for name, priority in (("first", -4), ("second", 3), ("third", -1)):
        worker.ask(
            1, "question", [name], lambda *answer: told.append(answer), name, priority=priority
        )
    while len(asked) < 3:
        worker.step(0)
        server.step(0)
    for ticket, name in asked[::-1]:
        server.answer(0, ticket, None, name)
    while len(told) < 3:
        server.step(0)
        worker.step(0)
    assert [name for _, name, _ in told] == ["second", "third", "first"]


class _Never:
    def done(self):
        return False


@pytest.mark.parametrize("servers", [0, 2])
@pytest.mark.parametrize("seed", [None, 1])
def test_sums_of_slices(servers, seed):
    """Random orders and priorities; each pull includes this worker's pushes, rounds do not mix."""
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
    """A program whose workers also act as servers."""
    from mxcy.dist.servers.key_server import KeyServer
    from mxcy.kvstore.server_rules import ServerRules

    def hosting(worker):
        messenger = worker.progress.messenger
        worker.progress.submit(lambda: KeyServer(messenger, 0, ServerRules(worker.rank)))
        return program(worker)

    return hosting


@pytest.mark.parametrize("seed", [None, 1])
def test_asynchronous_updates(seed):
    """All pushes count, pulls include own pushes, values never go back, slow workers delay none."""

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
    from mxcy.dist.worlds.collectives import barrier

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


def test_failed_update_is_reported_to_all():
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

    assert "round 1 of key 'a': rank 1 (memory) has not reached it" in str(
        run(2, 1, program, patience=0.2)[0]
    )


def test_a_server_that_does_not_answer():
    world = MemoryJob(1, servers=1).worlds[0]
    messenger, errors = Messenger(world, patience=0.01), []
    messenger.ask(1, "pull", [], lambda error, *_: errors.append(error), "the value of key 'a'")
    messenger.step(time.monotonic())
    assert not errors
    messenger.step(time.monotonic() + 10)
    assert "for the value of key 'a': server 0 (memory) does not answer" in errors[0]
    messenger.fail("MPI failed")
    messenger.ask(1, "pull", [], lambda error, *_: errors.append(error), "the value")
    assert errors[1] == "MPI failed"


def test_keys_in_different_orders():
    keys = {"a": 2, "b": 5, "c": 4}

    def program(worker):
        worker.init(**{key: np.full(keys[key], 7.0) for key in sorted(keys, reverse=worker.rank)})
        return {key: worker.pull(key).tolist() for key in keys}

    assert run(2, 2, program) == [{key: [7.0] * size for key, size in keys.items()}] * 2


def test_different_keys_are_refused_on_all_workers():
    def program(worker):
        worker.init(a=np.zeros(2 + worker.rank))

    for error in run(2, 1, program):
        assert "rank 0 initializes key 'a' of shape (2,)" in str(error)


# -- stores ----------------------------------------------------------------------------------------
