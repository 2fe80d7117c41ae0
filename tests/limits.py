"""Memory and disk limits for tests of damaged files."""

import contextlib
import resource
import tracemalloc


@contextlib.contextmanager
def allocating_at_most(size):
    """Fail if a block's peak memory of Python objects and NumPy arrays exceeds a limit."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= size, f"{peak} bytes were allocated, at most {size} expected"


@contextlib.contextmanager
def full_disk(size=1000):
    """Limit all files to `size` bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
