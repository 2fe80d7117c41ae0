"""Memory from the system, which blocks of some pages share in huge pages."""

import ctypes
import random
import threading

import pytest

from mxcy._library.open import open_library

KIB, MIB = 1 << 10, 1 << 20
SIZES = (100, 64 * KIB - 1, 64 * KIB, 100_000, MIB, 3 * MIB + 5, 9 * MIB, 16 * MIB)


def system():
    library = open_library()
    library.mx_system_alloc.restype = ctypes.c_void_p
    library.mx_system_alloc.argtypes = [ctypes.c_size_t]
    library.mx_system_free.restype = None
    library.mx_system_free.argtypes = [ctypes.c_void_p]
    return library


def work(library, seed, blocks):
    """Take and free blocks at random; each is marked at both ends with its number."""
    draw = random.Random(seed)
    for number in range(1, 400):
        size = draw.choice(SIZES)
        data = library.mx_system_alloc(size)
        assert data % 64 == 0
        ctypes.memset(data, number % 251, 8)
        ctypes.memset(data + size - 8, number % 251, 8)
        blocks.append((data, size, number % 251))
        while len(blocks) > 20:
            release(library, *blocks.pop(draw.randrange(len(blocks))))


def release(library, data, size, mark):
    assert ctypes.string_at(data, 8) == ctypes.string_at(data + size - 8, 8) == bytes([mark] * 8)
    library.mx_system_free(data)


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_keep_their_contents(threads):
    library, shelves, failures = system(), [[] for _ in range(threads)], []

    def run(seed):
        try:
            work(library, seed, shelves[seed])
        except AssertionError as failure:
            failures.append(failure)

    workers = [threading.Thread(target=run, args=(seed,)) for seed in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    blocks = sorted(block for shelf in shelves for block in shelf)
    for (data, size, _), (after, _, _) in zip(blocks, blocks[1:], strict=False):
        assert data + size <= after
    for block in blocks:
        release(library, *block)


RETURNED = """
import ctypes
import random
from tests.runtime.test_system_memory import MIB, system

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

library = system()
blocks = [library.mx_system_alloc(MIB) for _ in range(200)]
for block in blocks:
    ctypes.memset(block, 1, MIB)
full = resident()
kept = blocks[::50]
for block in random.Random(0).sample([b for b in blocks if b not in kept], 196):
    library.mx_system_free(block)
assert full - resident() > 150 * MIB, (full, resident())
for block in kept:
    assert ctypes.string_at(block, MIB) == bytes([1]) * MIB
print("done")
"""


def test_freed_blocks_return_to_the_system(run_python):
    assert run_python(RETURNED) == "done\n"
