"""Limits within which tests of damaged files must stay."""

import contextlib
import resource
import tracemalloc


@contextlib.contextmanager
def allocating_at_most(size):
    """Fail when a block's Python objects and NumPy arrays take more bytes at a time."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= size, f"{peak} bytes were allocated, at most {size} expected"


@contextlib.contextmanager
def full_disk(size=1000):
    """Let no file grow beyond `size` bytes meanwhile, as if there were no more room for it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
