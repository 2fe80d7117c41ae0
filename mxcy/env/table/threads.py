"""Threads."""

from mxcy import cpus
from mxcy.env.kinds import integer, spins, team, waiting
from mxcy.env.variable import Variable

ROWS = (
    Variable("OMP_NUM_THREADS", team, cpus.usable_cores, "I", "mxcy.env.environment",
             "Threads of the parallel team; default: the physical cores this process may use, "
             "capped by its control group's CPU quota. Of a list, the first counts."),
    Variable("OMP_WAIT_POLICY", waiting, None, "I",
             "mxcy._front", "Whether threads of the team spin or sleep between regions; default: "
             "they spin for some microseconds, then sleep."),
    Variable("GOMP_SPINCOUNT", spins, None, "I", "mxcy._front",
             "How often threads of the team look for work before they sleep; default 10000."),
    Variable("MXNET_OMP_MAX_THREADS", integer(1), None, "I", "mxcy.env.environment",
             "An upper bound of the team size."),
    Variable("MXNET_CPU_NNPACK_NTHREADS", integer(1), None, "C", "mxcy.ops.prepare",
             "1: fused convolutions, pooling and dense layers use one thread; otherwise, as there "
             "is only one team, all of it."),
)  # fmt: skip
