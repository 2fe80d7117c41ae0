"""Contexts: device names, a thread's default, and absent GPUs."""

import pickle
import threading

import pytest

import mxcy.context
from mxcy.base import MXNetError
from mxcy.context import Context, as_context, cpu, cpu_pinned, cpu_shared, current_context, gpu


class _TwoGpus:
    def __init__(self):
        self.emptied = []

    def count(self):
        return 2

    def memory_info(self, device_id):
        return 100 + device_id, 200

    def empty_cache(self, device_id):
        self.emptied.append(device_id)


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(mxcy.context, "_backends", {})
    backend = _TwoGpus()
    mxcy.context.serve_device("gpu", backend)
    return backend


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(mxcy.context, "_backends", {})


@pytest.mark.parametrize(
    ("ctx", "code", "text"),
    [
        (cpu(), 1, "cpu(0)"),
        (gpu(1), 2, "gpu(1)"),
        (cpu_pinned(2), 3, "cpu_pinned(2)"),
        (cpu_shared(), 5, "cpu_shared(0)"),
        (Context("gpu", -1), 2, "gpu(-1)"),
        (Context(gpu(3), 1), 2, "gpu(3)"),
    ],
)
def test_names(ctx, code, text):
    assert ctx.device_typeid == code
    assert (str(ctx), repr(ctx)) == (text, text)
    assert f"{ctx.device_type}({ctx.device_id})" == text
    assert as_context(text) == ctx
    assert pickle.loads(pickle.dumps(ctx)) == ctx


def test_equality_and_hash():
    assert gpu(2) == Context("gpu", 2)
    assert hash(gpu(2)) == hash(Context("gpu", 2))
    assert len({cpu(0), cpu(1), gpu(0), cpu(0)}) == 3
    assert cpu() != 1
    assert cpu() != None  # noqa: E711
    assert cpu(0) != gpu(0)


@pytest.mark.parametrize("bad", ["tpu", 1, b"cpu", None])
def test_unknown_type(bad):
    with pytest.raises(MXNetError, match="device_type must be one of cpu, gpu"):
        Context(bad)
    with pytest.raises(KeyError):  # as in MXNet
        Context(bad)


@pytest.mark.parametrize("bad", ["0", 1.0, None])
def test_device_id_is_an_integer(bad):
    with pytest.raises(TypeError):
        cpu(bad)


def test_as_context():
    assert as_context("gpu") == gpu(0)
    assert as_context(" gpu( 3 ) ") == gpu(3)
    ctx = cpu(4)
    assert as_context(ctx) is ctx
    with ctx:
        assert as_context(None) is ctx
    for bad in ("", "tpu(0)", "gpu(x)", "gpu(0"):
        with pytest.raises(MXNetError, match="not a context"):
            as_context(bad)
    with pytest.raises(TypeError, match="int"):
        as_context(0)


def test_with_statements_nest_and_repeat():
    five = cpu(5)
    assert current_context() == cpu(0)
    with five:
        with gpu(1) as inner:
            assert current_context() is inner
            with five:
                assert current_context() == five
            assert current_context() == gpu(1)
        with five:
            pass
        assert current_context() == five
    assert current_context() == cpu(0)


def test_with_statement_ends_on_errors():
    with pytest.raises(KeyError), gpu(1):
        raise KeyError
    assert current_context() == cpu(0)


def test_each_thread_has_its_own_default():
    seen = []
    with cpu(5):
        thread = threading.Thread(target=lambda: seen.append(current_context()))
        thread.start()
        thread.join()
    assert seen == [cpu(0)]


def test_default_ctx_on_the_class():
    assert Context.default_ctx == cpu(0)
    try:
        Context.default_ctx = cpu(4)
        assert current_context() == cpu(4)
        assert cpu().default_ctx == cpu(4)
    finally:
        Context.default_ctx = cpu(0)


def test_without_a_gpu(no_gpu):
    assert mxcy.context.num_gpus() == 0
    mxcy.context.check_usable(cpu(7))
    mxcy.context.check_usable(cpu_pinned())
    cpu().empty_cache()
    for use in (mxcy.context.check_usable, Context.empty_cache):
        with pytest.raises(MXNetError, match=r"gpu\(0\) cannot be used.*no GPU"):
            use(gpu())
    with pytest.raises(MXNetError, match=r"gpu\(0\) cannot be used"):
        mxcy.context.gpu_memory_info()


def test_with_gpus(two_gpus):
    assert mxcy.context.num_gpus() == 2
    assert mxcy.context.gpu_memory_info(1) == (101, 200)
    gpu(1).empty_cache()
    assert two_gpus.emptied == [1]
    for bad in (gpu(2), gpu(-1)):
        with pytest.raises(MXNetError, match=r"only gpu\(0\) to gpu\(1\)"):
            mxcy.context.check_usable(bad)
