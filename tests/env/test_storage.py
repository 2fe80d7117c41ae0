"""Variables of memory pools and resources, for each family of devices."""

import pytest

from tests.env.run import python

# Programs know a device of each family; GPUs are virtual.
START = """
import json, os, mxcy as mx
contexts = mx.cpu(1), mx.cpu_pinned(1), mx.gpu(1)
def each(function):
    print(json.dumps([function(ctx) for ctx in contexts]))
def rounded(*sizes):
    each(lambda ctx: [mx.storage.round_size(ctx, n) for n in sizes])
def refused(ctx, **variables):
    os.environ.update(variables)
    try:
        mx.storage.stats(ctx)
    except mx.MXNetError as error:
        assert isinstance(error, ValueError)
        return str(error)
    finally:
        for name in variables:
            del os.environ[name]
    raise AssertionError(f"{ctx} works with {variables}")
"""
FAMILIES = ("CPU", "CPU_PINNED", "GPU")
MIB = 1 << 20


def run(code, **variables):
    """A program; a variable whose name begins with FAMILY takes one value for each family."""
    settings = {}
    for name, value in variables.items():
        if name.startswith("FAMILY"):
            texts = [value] * 3 if isinstance(value, str) else value
            for family, text in zip(FAMILIES, texts, strict=True):
                settings[name.replace("FAMILY", f"MXNET_{family}")] = text
        else:
            settings[name] = value
    return python(START + code, MXCY_VIRTUAL_DEVICES="2", **settings)


def refusals(*given, **others):
    """The errors of each family for (name, value) pairs."""
    code = "".join(
        f"print(refused(contexts[{n}], **{{'MXNET_{family}_{name}': '{text}'}}))\n"
        for name, text in given
        for n, family in enumerate(FAMILIES)
    )
    texts = run(code, **others).out.splitlines()
    wanted = [f"MXNET_{family}_{name}" for name, _ in given for family in FAMILIES]
    for text, name in zip(texts, wanted, strict=True):
        assert f"environment variable {name}=" in text
    return texts[::3]


REUSE = """
def reuse(ctx):
    before = mx.nd.empty((1000,), ctx=ctx)
    first = before.numpy_view().ctypes.data
    del before
    again = mx.nd.empty((1001,), ctx=ctx).numpy_view().ctypes.data
    now = mx.storage.stats(ctx)
    names = ("strategy", "hits", "misses", "live_bytes", "pooled_bytes")
    return [first == again, *[now[name] for name in names]]
each(reuse)
"""


def test_pool_type():
    naive, other = [True, "Naive", 1, 1, 0, 4096], [True, "Round", 1, 1, 0, 4096]
    default = run(REUSE)
    assert default.value == [naive] * 3 and not default.err
    told = run(REUSE, MXCY_VERBOSE="storage").err
    assert "mxcy: Naive memory pool for gpu(1)" in told
    one = run(REUSE, FAMILY_MEM_POOL_TYPE=(None, "Round", "Unpooled"))
    assert one.value[:2] == [naive, other]
    assert one.value[2][1:] == ["Unpooled", 0, 2, 0, 0]
    assert one.err == (
        "mxcy: Round memory pool for cpu_pinned(1)\nmxcy: Unpooled memory pool for gpu(1)\n"
    )
    assert run(REUSE, FAMILY_MEM_POOL_TYPE=("Round", None, "Round")).value == [other, naive, other]
    (text,) = refusals(("MEM_POOL_TYPE", "Bag"))
    assert "'Bag': expected one of Naive, Round, Unpooled" in text


def test_variables_are_read_at_the_first_array_of_a_device():
    code = """
for _ in range(2):
    os.environ["MXNET_CPU_MEM_POOL_TYPE"] = "Bag"
    try:
        mx.nd.ones((3,), ctx=mx.cpu(1))
    except mx.MXNetError as error:
        assert isinstance(error, ValueError)
        assert "MXNET_CPU_MEM_POOL_TYPE='Bag'" in str(error), error
    else:
        raise AssertionError("Bag is no pool")
os.environ["MXNET_CPU_MEM_POOL_TYPE"] = "Round"
mx.nd.ones((3,), ctx=mx.cpu(1))
os.environ["MXNET_CPU_MEM_POOL_TYPE"] = "Naive"
mx.nd.ones((3,), ctx=mx.cpu(2))
print(json.dumps([mx.storage.stats(mx.cpu(n))["strategy"] for n in (1, 2)]))
"""
    assert run(code).value == ["Round", "Round"]


def test_page_size():
    code = "rounded(1, 4097)"
    assert run(code, FAMILY_MEM_POOL_PAGE_SIZE=("5000", "64", "8192")).value == [
        [5000, 5000],
        [64, 4160],
        [8192, 8192],
    ]
    with_old_names = run(code, FAMILY_POOL_PAGE_SIZE="8192")
    assert with_old_names.value == [[8192, 8192]] * 3
    (text,) = refusals(("MEM_POOL_PAGE_SIZE", "7"))
    assert "'7': expected an integer, 32 or more" in text
    text, _ = refusals(
        ("MEM_POOL_PAGE_SIZE", "5000"),
        ("MEM_POOL_PAGE_SIZE", str(1 << 25)),
        FAMILY_MEM_POOL_TYPE="Round",
    )
    assert "5000: expected a power of two, at most 2^24" in text


def test_large_alloc_round_size():
    code = f"rounded({MIB}, {MIB} + 1, 3 * {MIB} + 1)"
    assert run(code, FAMILY_MEM_LARGE_ALLOC_ROUND_SIZE=(None, str(MIB), "1")).value == [
        [MIB, MIB + 4096, 4 * MIB],
        [MIB, 2 * MIB, 4 * MIB],
        [MIB, MIB + 4096, 3 * MIB + 4096],
    ]
    (text,) = refusals(("MEM_LARGE_ALLOC_ROUND_SIZE", "0"))
    assert "'0': expected an integer, 1 or more" in text


def test_round_linear_cutoff():
    code = f"rounded({MIB}, 5 * {MIB}, 40 * {MIB})"
    cutoffs = (None, "20", "22")
    done = run(code, FAMILY_MEM_POOL_TYPE="Round", FAMILY_MEM_POOL_ROUND_LINEAR_CUTOFF=cutoffs)
    assert done.value == [
        [MIB, 8 * MIB, 48 * MIB],
        [MIB, 5 * MIB, 40 * MIB],
        [MIB, 8 * MIB, 40 * MIB],
    ]
    name = "MEM_POOL_ROUND_LINEAR_CUTOFF"
    for text in refusals((name, "10"), (name, "40")):
        assert "expected 20 to 34" in text


def test_reserve():
    # With all memory reserved each miss gives back what was kept, so that fewer requests hit.
    code = """
def use(ctx):
    for n in (10, 10, 2000, 10, 3000):
        mx.nd.empty((n,), ctx=ctx)
    now = mx.storage.stats(ctx)
    return [now["flushes"], now["misses"], now["limit"] / mx.storage.memory_info()[1]]
each(use)
"""
    done = run(code, FAMILY_MEM_POOL_RESERVE=(None, "0", "100"))
    assert done.value == [[0, 3, pytest.approx(0.05)], [0, 3, 0], [4, 4, 1]]
    (text,) = refusals(("MEM_POOL_RESERVE", "101"))
    assert "'101': expected 0 to 100" in text


def test_use_naive_storage_managers():
    code = """
each(lambda ctx: (mx.nd.ones((3,), ctx=ctx), mx.storage.stats(ctx)["strategy"])[1])
shared = mx.nd.ones((3,), ctx=mx.context.cpu_shared(0))
assert mx.storage.stats(shared.context)["strategy"] == "Unpooled"
"""
    for name in ("MXNET_USE_NAIVE_STORAGE_MANAGERS", "MXNET_USE_NAIVE_STORAGE_MANAGER"):
        done = run(code, FAMILY_MEM_POOL_TYPE="Round", **{name: "1"})
        assert done.value == ["Unpooled"] * 3
        assert "mxcy: Unpooled memory pool for gpu(1)" in done.err
    assert run(code, MXNET_USE_NAIVE_STORAGE_MANAGERS="0").value == ["Naive"] * 3


TEMP = """
from threading import Thread
def use(ctx):
    pool = mx.storage.pool_of(ctx)
    most = mx.resource.stats(ctx)["temp"]
    held = [pool.take_temp(1000) for _ in range(most)]
    late = Thread(target=lambda: held.append(pool.take_temp(1000)))
    late.start()
    late.join(0.05)
    waits = late.is_alive()
    pool.give_temp(held[0], 1000)
    late.join()
    now = mx.resource.stats(ctx)
    assert now["temp_bytes"] == 4096 * most
    return [waits, now["temp"], now["temp_used"]]
each(use)
"""


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((None, None, None), (4, 4, 1)),
        ((None, None, "3"), (3, 3, 3)),
        (("2", None, "3"), (2, 2, 3)),
        (("2", "5", None), (2, 2, 5)),
    ],
)
def test_temp_copy(texts, expected):
    names = ("MXNET_CPU_TEMP_COPY", "MXNET_GPU_TEMP_COPY", "MXNET_EXEC_NUM_TEMP")
    done = run(TEMP, **dict(zip(names, texts, strict=True)))
    assert done.value == [[True, n, n] for n in expected]


def test_bad_temp_copies():
    code = """
for ctx, name in zip(contexts[::2], ("MXNET_CPU_TEMP_COPY", "MXNET_GPU_TEMP_COPY")):
    print(refused(ctx, **{name: "0"}))
"""
    for text in run(code).out.splitlines():
        assert "TEMP_COPY='0': expected 1 to 1024" in text


STREAMS = """
def sums(ctx, draw, seed):
    mx.random.seed(seed, ctx=ctx)
    return [float(draw(ctx).sum().asscalar()) for _ in range(7)]
def uniform(ctx):
    return mx.nd.random.uniform(shape=(9,), ctx=ctx)
def dropout(ctx):
    return mx.nd.Dropout(mx.nd.ones((99,), ctx=ctx), p=0.5, mode="always")
def both(ctx):
    dropout(ctx)
    return uniform(ctx)
gpu, stats = mx.gpu(1), mx.resource.stats(mx.gpu(1))
draws = [sums(gpu, draw, 5) for draw in (uniform, dropout, both)]
assert draws == [sums(gpu, draw, 5) for draw in (uniform, dropout, both)]
assert mx.resource.stats()["random"] == 1 and mx.resource.stats()["dropout"] == 0
print(json.dumps([stats["random"], stats["dropout"], draws]))
"""


def test_random_copies_of_gpus():
    def program(**variables):
        random, dropout, draws = run(STREAMS, **variables).value
        return (random, dropout), draws

    four, (uniform, dropped, both) = program()
    assert four == (4, 4) and len({*uniform}) == 7
    assert both == uniform  # Dropout has separate streams
    two, (fewer, dropped_from_two, _) = program(
        MXNET_GPU_PARALLEL_RAND_COPY="2", MXNET_GPU_CUDNN_DROPOUT_STATE_COPY="1"
    )
    assert two == (2, 1)
    # The first call takes the second set, and so on; sets that both have are the same.
    assert fewer[0] == uniform[0] and fewer[1] == uniform[3] and fewer[2:] != uniform[2:]
    assert dropped_from_two != dropped
    same, draws = program(MXNET_ENFORCE_DETERMINISM="1")
    assert same == (1, 1) and draws[0] == draws[2]


def test_bad_random_copies():
    code = """
for name in ("MXNET_GPU_PARALLEL_RAND_COPY", "MXNET_GPU_CUDNN_DROPOUT_STATE_COPY"):
    os.environ[name] = "0"
    try:
        mx.resource.stats(mx.gpu(0))
    except mx.MXNetError as error:
        print(error)
    del os.environ[name]
"""
    texts = run(code).out.splitlines()
    assert len(texts) == 2
    assert all("COPY='0': expected 1 to 1024" in text for text in texts)
