"""Streams of random numbers: their states and seeds, with any number of threads."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from mxcy.base import MXNetError


def test_numbers_do_not_depend_on_the_number_of_threads(run_python):
    code = """
import hashlib, mxcy as mx
mx.random.seed(4)
for name in ("uniform", "normal", "gamma"):
    drawn = getattr(mx.nd.random, name)(shape=300001)
    print(hashlib.sha256(drawn.asnumpy().tobytes()).hexdigest())
"""
    one = run_python(code, OMP_NUM_THREADS="1")
    assert one == run_python(code, OMP_NUM_THREADS="3")
    assert one == run_python(code, OMP_NUM_THREADS="2", MXNET_ENABLE_CYTHON="0")


def test_stream_copies_are_used_in_turn(run_python):
    code = """
import mxcy as mx
mx.random.seed(3)
for _ in range(5):
    print(float(mx.nd.random.uniform().asnumpy()[0]))
mx.random.seed(3)
print(float(mx.nd.random.uniform().asnumpy()[0]))
"""
    printed = [float(line) for line in run_python(code, MXNET_CPU_PARALLEL_RAND_COPY="4").split()]
    # Copy i is seeded 127 * seed + 16 * i, and the first draw takes copy 1.
    engines = [np.random.RandomState(127 * 3 + 16 * i) for i in range(4)]
    first = [engine.randint(2**32, size=2, dtype=np.uint32) for engine in engines]
    want = [first[1][0], first[2][0], first[3][0], first[0][0], first[1][1], first[1][0]]
    np.testing.assert_array_equal(printed, np.array(want, np.float32) / np.float32(2**32))


def test_a_fresh_process_has_seed_zero(run_python):
    first = float(run_python("import mxcy as mx; print(mx.nd.random.uniform().asnumpy()[0])"))
    mx.random.seed(0)
    assert first == mx.nd.random.uniform().asnumpy()[0]


def test_state_continues_where_it_was_saved(run_python):
    mx.random.seed(6)
    data = mx.nd.array(np.arange(50))

    def some():
        return [
            mx.nd.random.normal(shape=1000).asnumpy(),
            mx.nd.random.shuffle(data).asnumpy(),
            mx.nd.random.uniform(shape=70000).asnumpy(),
        ]

    some()
    state = mx.random.get_state()
    first = some()
    mx.random.seed(1)
    mx.random.set_state(state)
    for got, want in zip(some(), first, strict=True):
        np.testing.assert_array_equal(got, want)
    code = f"""
import mxcy as mx
mx.random.set_state(bytes.fromhex("{state[:20].hex()}"))
"""
    assert "mx_rng_restore" in run_python(code, fails=True)


@pytest.mark.parametrize("package", ["_cy", "_ctypes"])
def test_streams_of_both_fronts(package):
    made = front.load(package)["Streams"](2)
    made.seed(0, 5)
    state = made.get_state()
    made.set_state(state)
    assert made.get_state() == state
    for damaged in (b"", state[:-1], state + b"1", b"\xff" * len(state)):
        with pytest.raises(MXNetError, match="mx_rng_restore"):
            made.set_state(damaged)
    with pytest.raises(MXNetError, match="copies must be from 1 to 1024, got 0"):
        front.load(package)["Streams"](0)


def test_seed_of_one_context():
    mx.random.seed(3)
    want = mx.nd.random.uniform(shape=3).asnumpy()
    for ctx in (mx.cpu(), mx.cpu(5), "cpu", mx.cpu_pinned()):
        mx.random.seed(3, ctx=ctx)
        np.testing.assert_array_equal(mx.nd.random.uniform(shape=3, ctx=mx.cpu(1)).asnumpy(), want)
    for wrong in (3.5, "4", None):
        with pytest.raises(ValueError, match="seed_state must be int"):
            mx.random.seed(wrong)
