"""Memory pools and resources."""

from mxcy.env.kinds import integer, one_of
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_CPU_MEM_POOL_TYPE", one_of("Naive", "Round", "Unpooled"), "Naive", "F",
             "mxcy._front", "How freed memory is kept: by exact size, by powers of two, or not.",
             under=("MXNET_USE_NAIVE_STORAGE_MANAGERS",)),
    Variable("MXNET_CPU_MEM_POOL_PAGE_SIZE", integer(32), 4096, "F", "mxcy._front",
             "Sizes are rounded up to a multiple of this; a power of two with Round.",
             aliases=("MXNET_CPU_POOL_PAGE_SIZE",)),
    Variable("MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE", integer(1), 2097152, "F", "mxcy._front",
             "Naive: sizes above this are rounded up to a multiple of it; 1 switches that off."),
    Variable("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", integer(20, 34), 24, "F", "mxcy._front",
             "Round: up to 2^this bytes sizes go to powers of two, above to multiples of it."),
    Variable("MXNET_CPU_MEM_POOL_RESERVE", integer(0, 100), 5, "F", "mxcy._front",
             "Percentage of memory to keep free; kept memory is released before it is touched."),
    Variable("MXNET_USE_NAIVE_STORAGE_MANAGERS", integer(0), 0, "F", "mxcy._front",
             "Not 0: no memory pools, whatever their types.",
             aliases=("MXNET_USE_NAIVE_STORAGE_MANAGER",)),
    Variable("MXNET_CPU_PARALLEL_RAND_COPY", integer(1, 1024), 1, "F", "mxcy.streams",
             "Sets of random streams on the CPU, which random operators take in turn."),
)  # fmt: skip
