"""The harness's child process: ``python -m tests.fuzz.worker FUZZER SEED COUNT [BYTES [STEP]]``."""

import faulthandler
import importlib
import resource
import sys
import warnings

from tests.fuzz.harness import SANITIZED


def limit_memory(size):
    """Allow that many bytes of address space more than there are now."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + size
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(fuzzer, seed, count, memory=0, step=1):
    """Run cases, printing the beginning and end of each."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"tests.fuzz.{fuzzer}")
    getattr(module, "prepare", lambda: None)()
    if memory and not SANITIZED:
        limit_memory(memory)
    for case in range(seed, seed + count * step, step):
        print(f"begins {case}", flush=True)
        module.case(case)
        print(f"done {case}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
