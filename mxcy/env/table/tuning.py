"""Serial or parallel."""

from mxcy.env.kinds import integer
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_CPU_PARALLEL_SIZE", integer(0), 200000, "F", "mxcy._front",
             "Arrays with fewer elements are worked on by one thread."),
)  # fmt: skip
