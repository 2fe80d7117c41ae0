"""Threads."""

from mxcy._base import cpus
from mxcy.env.kinds import anything, integer, spins, team, waiting
from mxcy.env.variable import Variable

_WAITING = "fronts/test_choice.py::test_the_spin_count_is_set_only_while_loading"

ROWS = (
    Variable("OMP_NUM_THREADS", team, cpus.usable_cores, "I", "mxcy.env.environment",
             "Threads of the parallel team; if set, also limits the pools of BLAS and OpenMP "
             "libraries in "
             "the process. Default: the physical cores this process may use, capped by "
             "its control group's CPU quota. Of a list, the first is used.",
             test="env/test_threads.py::test_no_pool_is_larger_than_the_team"),
    Variable("MXNET_OMP_MAX_THREADS", integer(1), None, "I", "mxcy.env.environment",
             "An upper bound of the team size, and of other libraries' pools.",
             test="env/test_threads.py::test_upper_bound"),
    Variable("OMP_WAIT_POLICY", waiting, None, "I",
             "mxcy._machine.threads",
             "Whether threads of the team spin or sleep between regions; default: they "
             "spin for some microseconds, then sleep.", test=_WAITING),
    Variable("GOMP_SPINCOUNT", spins, None, "I", "mxcy._machine.threads",
             "Number of polls of the team's threads before they sleep; default 10000.",
             test=_WAITING),
    Variable("KMP_AFFINITY", anything, None, "I", "mxcy._machine.threads",
             "Bind the threads of the team to CPUs, like Intel's OpenMP runtime: none, compact, "
             "scatter, balanced, or explicit with proclist=[...]; also granularity=fine or "
             "core, permute, offset and verbose. Unknown words: a warning, and "
             "nothing is bound.", under=("OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"),
             test="env/test_threads.py::test_kmp_affinity_binds_the_team"),
    Variable("OMP_PLACES", anything, None, "I", "mxcy._machine.threads",
             "Where the threads of the team may run; read by the OpenMP runtime itself.",
             test="env/test_threads.py::test_omp_places_win"),
    Variable("OMP_PROC_BIND", anything, None, "I", "mxcy._machine.threads",
             "Whether and how threads are bound to places; read by the OpenMP runtime itself.",
             test="env/test_threads.py::test_omp_proc_bind_wins"),
    Variable("GOMP_CPU_AFFINITY", anything, None, "I", "mxcy._machine.threads",
             "The CPUs of the team's threads, in turn; read by the OpenMP runtime itself.",
             test="env/test_threads.py::test_gomp_cpu_affinity_wins"),
    Variable("MXNET_CPU_NNPACK_NTHREADS", integer(1), None, "C", "mxcy._machine.tuning.tuner",
             "Maximum number of threads of fused convolutions, pooling and dense layers in "
             "prediction; "
             "default: the whole team.",
             test="graph/test_layers.py::test_nnpack_threads_cap_the_team_of_layers"),
)
