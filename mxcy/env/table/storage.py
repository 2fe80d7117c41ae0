"""Memory pools and resources."""

from collections.abc import Callable
from typing import Any

from mxcy.env.kinds import Kind, integer, one_of
from mxcy.env.variable import Variable

#: name of a family of variables -> the memory it configures
_FAMILIES = {"CPU": "the CPU", "CPU_PINNED": "pinned CPU memory", "GPU": "each GPU"}


def _pool(
    name: str, kind: Kind, default: Any, doc: str, test: str, **more: Callable[[str], Any]
) -> tuple[Variable, ...]:
    """Make rows for one variable of all families."""
    return tuple(
        Variable(
            f"MXNET_{family}_MEM_{name}", kind, default, "F", "mxcy.storage", f"{doc} For {what}.",
            test=f"env/test_storage.py::{test}", **{key: of(family) for key, of in more.items()},
        )
        for family, what in _FAMILIES.items()
    )


def _unpooled(family: str) -> tuple[str, ...]:
    return ("MXNET_USE_NAIVE_STORAGE_MANAGERS",)


ROWS = (
    *_pool("POOL_TYPE", one_of("Naive", "Round", "Unpooled"), "Naive",
           "Caching of freed memory: by exact size, by powers of two, or none.",
           "test_pool_type", under=_unpooled),
    *_pool("POOL_PAGE_SIZE", integer(32), 4096,
           "Sizes are rounded up to a multiple of this; a power of two with Round.",
           "test_page_size", aliases=lambda family: (f"MXNET_{family}_POOL_PAGE_SIZE",)),
    *_pool("LARGE_ALLOC_ROUND_SIZE", integer(1), 2097152,
           "Naive: sizes above this are rounded up to a multiple of it; 1 disables this.",
           "test_large_alloc_round_size", under=_unpooled),
    *_pool("POOL_ROUND_LINEAR_CUTOFF", integer(20, 34), 24,
           "Round: up to 2^this bytes sizes go to powers of two, above to multiples of it.",
           "test_round_linear_cutoff", under=_unpooled),
    *_pool("POOL_RESERVE", integer(0, 100), 5,
           "Percentage of memory to keep free; cached memory is released to preserve it.",
           "test_reserve", under=_unpooled),
    Variable("MXNET_USE_NAIVE_STORAGE_MANAGERS", integer(0), 0, "F", "mxcy.storage",
             "Nonzero: no memory pools, whatever their types.",
             aliases=("MXNET_USE_NAIVE_STORAGE_MANAGER",),
             test="env/test_storage.py::test_use_naive_storage_managers"),
    Variable("MXNET_CPU_TEMP_COPY", integer(1, 1024), 4, "F", "mxcy.storage",
             "Number of CPU operators that may use temporary space concurrently; default: "
             "MXNET_EXEC_NUM_TEMP if that is set.",
             test="env/test_storage.py::test_temp_copy"),
    Variable("MXNET_GPU_TEMP_COPY", integer(1, 1024), 1, "F", "mxcy.storage",
             "The same for each GPU.", test="env/test_storage.py::test_temp_copy"),
    Variable("MXNET_CPU_PARALLEL_RAND_COPY", integer(1, 1024), 1, "F", "mxcy._devices.streams",
             "Number of sets of random streams on the CPU, used in turn by random operators.",
             test="env/test_numerics.py::test_sets_of_streams",
             under=("MXNET_ENFORCE_DETERMINISM",)),
    Variable("MXNET_GPU_PARALLEL_RAND_COPY", integer(1, 1024), 4, "F", "mxcy._devices.streams",
             "The same on each GPU.", test="env/test_storage.py::test_random_copies_of_gpus",
             under=("MXNET_ENFORCE_DETERMINISM",)),
    Variable("MXNET_GPU_CUDNN_DROPOUT_STATE_COPY", integer(1, 1024), 4, "F",
             "mxcy._devices.streams",
             "Number of sets of random streams per GPU reserved for Dropout, used in turn.",
             test="env/test_storage.py::test_random_copies_of_gpus",
             under=("MXNET_ENFORCE_DETERMINISM",)),
)
