"""The memory planner: sharing, lifetimes, statistics, and no overlap of live tensors."""

import random
from itertools import accumulate

import pytest

from mxcy.graph.builder import Builder
from mxcy.graph.gradient import gradient
from mxcy.graph.planning import packing
from mxcy.graph.planning.memory import _allocate, match_ranges, plan_memory
from mxcy.graph.planning.sharing import Sharing
from tests.graph.graphs import calls_of, resnet50, spec

MB = 2**20


def plan(graph, external=None, **settings):
    if external is None:
        external = set(graph.outputs)
    return plan_memory(graph, calls_of(graph), external, settings)


def chain(layers=40, batch=512, width=256):
    """Fully connected layers with relu, and the indices of their weights."""
    b = Builder()
    x = b.variable("data", spec(batch, width))
    wanted = [x[0]]
    for i in range(layers):
        weight = b.variable(f"w{i}", spec(width, width))
        bias = b.variable(f"b{i}", spec(width))
        wanted += [weight[0], bias[0]]
        x = b.add("FullyConnected", {"num_hidden": width}, [x, weight, bias])
        x = b.add("Activation", {"act_type": "relu"}, [x])
    return b.finish([x]), wanted


def test_chain_needs_two_buffers_in_inference():
    graph, _ = chain()
    assert plan(graph, external=()).total == MB  # two layers' outputs of half a megabyte


def test_chain_without_sharing_or_inplace():
    graph, _ = chain()
    shared_activations = plan(graph, external=(), NNVM_EXEC_MATCH_RANGE=0)
    assert shared_activations.total == 20 * MB
    nothing = {"NNVM_EXEC_MATCH_RANGE": 0, "MXNET_EXEC_ENABLE_INPLACE": False}
    assert plan(graph, external=(), **nothing).total == 40 * MB


def test_chain_in_training():
    """Gradients of all inputs are separate outputs."""
    graph, wanted = chain()
    training = gradient(graph, wanted)
    variables_and_gradients = {*training.outputs[1:]}
    shared = plan(training, external=variables_and_gradients)
    apart = plan(training, external=variables_and_gradients, NNVM_EXEC_MATCH_RANGE=0)
    assert shared.total <= 21.5 * MB
    assert apart.total >= 1.9 * shared.total


def test_inplace_can_be_switched_off():
    graph, _ = chain()
    on, off = plan(graph, external=()), plan(graph, external=(), MXNET_EXEC_ENABLE_INPLACE=False)
    assert len(on.inplace) == 40 and off.inplace == []
    assert off.total >= on.total


def test_inplace_needs_the_last_user():
    b = Builder()
    x = b.variable("x", spec(4, 16))
    y = b.add("exp", {}, [x])
    z = b.add("sqrt", {}, [y])  # y is read again below
    w = b.add("elemwise_add", {}, [y, z])
    out = b.add("sqrt", {}, [w])
    memory = plan(b.finish([out]))
    assert memory.offsets[y] != memory.offsets[z]
    assert (w[0], 0, 0) in memory.inplace  # now y ends
    assert out not in memory.offsets


def test_an_input_used_twice_by_its_last_user_is_taken_over():
    b = Builder()
    y = b.add("exp", {}, [b.variable("x", spec(4, 16))])
    z = b.add("elemwise_mul", {}, [y, y])
    out = b.add("sqrt", {}, [z])
    assert plan(b.finish([out])).offsets[z] == 0


def test_variables_and_given_outputs_are_never_taken_over():
    b = Builder()
    x = b.variable("x", spec(4, 16))
    y = b.add("exp", {}, [x])
    z = b.add("sqrt", {}, [y])
    out = b.add("exp", {}, [z])
    memory = plan(b.finish([y, out]))
    assert memory.inplace == [] and set(memory.offsets) == {z}


def test_identities_share_with_further_users():
    b = Builder()
    y = b.add("exp", {}, [b.variable("x", spec(4, 16))])
    flat = b.add("Reshape", {"shape": (64,)}, [y])
    again = b.add("sqrt", {}, [flat])
    other = b.add("sqrt", {}, [y])
    out = b.add("elemwise_add", {}, [b.add("Flatten", {}, [other]), other])
    graph = b.finish([out, again])
    memory = plan(graph)
    assert memory.offsets[flat] == memory.offsets[y]
    assert (flat[0], 0, 0) in memory.inplace
    # `other` may take y's memory only because `again`, which reads it, came before
    assert memory.offsets[other] == memory.offsets[y]


def test_shared_memory_is_not_overwritten_while_the_other_name_is_read():
    b = Builder()
    y = b.add("exp", {}, [b.variable("x", spec(4, 16))])
    flat = b.add("Reshape", {"shape": (64,)}, [y])
    changed = b.add("sqrt", {}, [flat])
    late = b.add("sqrt", {}, [y])
    memory = plan(b.finish([b.add("exp", {}, [changed]), b.add("exp", {}, [late])]))
    assert memory.offsets[changed] != memory.offsets[y]


def test_identities_of_variables_are_aliases():
    b = Builder()
    x = b.variable("x", spec(4, 16))
    flat = b.add("Flatten", {}, [b.add("Reshape", {"shape": (16, 4)}, [x])])
    out = b.add("exp", {}, [flat])
    memory = plan(b.finish([out]))
    assert memory.aliases[flat] == x and memory.total == 0
    assert plan(b.finish([out]), MXNET_EXEC_ENABLE_INPLACE=False).aliases == {}


def test_mutated_entries_share_with_nobody():
    b = Builder()
    weight = b.variable("weight", spec(4, 16))
    gradient_in = b.variable("gradient", spec(4, 16))
    momentum = b.add("exp", {}, [weight])
    before = b.add("Reshape", {"shape": (64,)}, [momentum])
    step = b.add("sgd_mom_update", {"lr": 0.1}, [weight, gradient_in, momentum])
    out = b.add("exp", {}, [before])
    end = b.add("sqrt", {}, [step])
    memory = plan(b.finish([end, out]))
    assert memory.offsets[before] != memory.offsets[momentum]
    assert memory.offsets[step] not in (memory.offsets[momentum], memory.offsets[before])


def test_inputs_read_only_for_their_shape_end_early():
    def total(operator):
        b = Builder()
        x = b.add("exp", {}, [b.variable("x", spec(64, 64))])
        x = b.add("sqrt", {}, [x])
        big = b.add("dot", {}, [x, x])
        other = b.add("dot", {}, [x, x])
        late = b.add(operator, {}, [big])
        last = b.add("dot", {}, [other, late])
        return plan(b.finish([last])).total

    assert total("zeros_like") < total("softmax")


def test_unused_results_are_freed_at_once():
    b = Builder()
    x = b.variable("x", spec(64, 64))
    b.add("dot", {}, [x, x])
    y = b.add("dot", {}, [x, x])
    memory = plan(b.finish([b.add("dot", {}, [y, y])]))
    assert memory.total == 64 * 64 * 4


def test_match_range_limits_reuse():
    def buffers(match_range):
        b = Builder()
        x = b.variable("x", spec(64, 64))
        big = b.add("dot", {}, [x, x])
        row = b.add("sum", {"axis": 0}, [big])  # 256 bytes; the 16 KB of `big` are free now
        after = b.add("cumsum", {}, [row])
        out = b.add("sum", {}, [after])
        return plan(b.finish([out]), NNVM_EXEC_MATCH_RANGE=match_range).buffers

    assert buffers(1) == [16384, 256, 256]
    assert buffers(64) == [16384, 256]


def test_match_ranges_of_the_sweep():
    assert match_ranges(0) == [0]
    assert match_ranges(1) == [1]
    assert match_ranges(16) == [1, 2, 4, 8, 16]
    assert match_ranges(10) == [1, 2, 4, 8, 10]


def test_offsets_are_aligned_and_inside():
    graph = random_graph(random.Random(1), 60)
    memory = plan(graph)
    for entry, offset in memory.offsets.items():
        assert offset % 64 == 0
        assert offset + graph.spec(entry).nbytes <= memory.total
    assert sum(memory.buffers) == memory.total


def test_colours_keep_branches_apart():
    b = Builder()
    x = b.variable("x", spec(64, 64))
    ends, branches = [], []
    for _ in range(2):
        y, branch = x, []
        for _ in range(6):
            y = b.add("dot", {}, [y, y])
            branch.append(y)
        ends.append(y)
        branches.append(branch)
    graph = b.finish([b.add("dot", {}, ends)])
    one, two = plan(graph), plan(graph, MXNET_EXEC_NUM_TEMP=2)
    assert len(two.buffers) >= len(one.buffers)
    places = [{two.offsets[entry] for entry in branch} for branch in branches]
    assert not places[0] & places[1]
    assert {one.offsets[e] for e in branches[0]} & {one.offsets[e] for e in branches[1]}


def random_graph(rng, count):
    """Elementwise, identity, matrix and reducing nodes over random earlier entries."""
    b = Builder()
    entries = [b.variable(f"x{i}", spec(8, 8)) for i in range(2)]
    for _ in range(count):
        kind, x = rng.randrange(6), rng.choice(entries[-6:])
        square = b.spec(x).shape == (8, 8)
        if kind == 0 or not square:
            shape = rng.choice([(8, 8), (64,), (4, 16)])
            x = b.add("Reshape", {"shape": shape}, [x])
        elif kind == 1:
            x = b.add("sin", {}, [x])
        elif kind == 2:
            others = [e for e in entries if b.spec(e).shape == (8, 8)]
            x = b.add("elemwise_add", {}, [x, rng.choice(others)])
        elif kind == 3:
            x = b.add("dot", {}, [x, x])
        elif kind == 4:
            x = b.add("zeros_like", {}, [x])
        else:
            both, _ = b.add("SliceChannel", {"num_outputs": 2, "axis": 0}, [x])
            x = b.add("Concat", {"dim": 0}, [(both, 1), (both, 0)])
        entries.append(x)
    return b.finish([entries[-1], rng.choice(entries[2:])])


@pytest.mark.parametrize("seed", range(40))
def test_live_memory_is_never_overwritten(seed):
    """Run the plan on marks: each write leaves a mark of its own on each line of 64 bytes."""
    rng = random.Random(seed)
    graph = random_graph(rng, 40)
    external = set(graph.outputs) if seed % 2 else ()
    settings = {
        "NNVM_EXEC_MATCH_RANGE": rng.choice([0, 1, 16]),
        "MXNET_EXEC_NUM_TEMP": rng.choice([1, 1, 3]),
    }
    memory = plan(graph, external, **settings)
    marks, wanted = {}, {}  # byte -> its mark; entry -> the marks of its bytes

    def lines(entry):
        begin = memory.offsets[entry]
        return range(begin, begin + graph.spec(entry).nbytes, 64)

    def check(entry):
        if entry in memory.offsets:
            assert [marks.get(byte) for byte in lines(entry)] == wanted[entry]

    for number, node in enumerate(graph.nodes):
        for position, entry in enumerate(node.inputs):
            if position not in node.op.ignored:
                check(entry)
        for index in range(len(graph.specs[number])):
            entry = (number, index)
            if number in memory.idle:
                wanted[entry] = [mark for source in node.inputs for mark in wanted[source]]
            elif node.op and node.op.identity and (number, 0, 0) in memory.inplace:
                wanted[entry] = wanted[node.inputs[0]]
            else:
                wanted[entry] = [(entry, line) for line in range(graph.spec(entry).nbytes // 64)]
                if entry in memory.offsets:
                    marks.update(zip(lines(entry), wanted[entry], strict=True))
            check(entry)
    for entry in graph.outputs:
        check(entry)


@pytest.mark.parametrize("seed", range(10))
def test_the_sweep_is_never_worse_than_one_range(seed):
    graph = random_graph(random.Random(seed), 80)
    walk = Sharing(graph, calls_of(graph), (), True)
    singles = [sum(_allocate(walk.events, walk.sizes, None, r)[1]) for r in match_ranges(16)]
    assert plan(graph, (), NNVM_EXEC_MATCH_RANGE=15).total >= min(singles)
    assert plan(graph, (), NNVM_EXEC_MATCH_RANGE=16).total <= min(singles)


def lifetimes(rng, count):
    """Events and sizes of storages with random lifetimes."""
    sizes, events, alive = [64 * rng.randrange(1, 40) for _ in range(count)], [], []
    for storage in range(count):
        events.append((storage, True, 0))
        alive.append(storage)
        while alive and rng.random() < 0.48:
            events.append((alive.pop(rng.randrange(len(alive))), False, 0))
    return events, sizes


@pytest.mark.parametrize("method", [packing._by_size, packing._in_order])
@pytest.mark.parametrize("seed", range(5))
def test_packed_storages_do_not_overlap(method, seed):
    events, sizes = lifetimes(random.Random(seed), 150)
    offsets, total = method(events, sizes)
    alive, most = set(), 0
    for storage, begins, _ in events:
        if not begins:
            alive.remove(storage)
            continue
        low, high = offsets[storage], offsets[storage] + sizes[storage]
        assert high <= total and low % 64 == 0
        for other in alive:
            assert high <= offsets[other] or offsets[other] + sizes[other] <= low
        alive.add(storage)
        most = max(most, sum(sizes[s] for s in alive))
    assert most <= total <= 1.35 * most


def test_known_network_needs_its_peak_of_live_memory():
    graph = resnet50(32, train=False)
    walk = Sharing(graph, calls_of(graph), set(graph.outputs), True)
    alive = list(
        accumulate(walk.sizes[s] if begins else -walk.sizes[s] for s, begins, _ in walk.events)
    )
    assert plan(graph).total <= 1.02 * max(alive)
