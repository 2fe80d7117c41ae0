"""Variables of threads, in separate processes."""

import os

import pytest

from tests.env.run import python

TWO = len(os.sched_getaffinity(0)) >= 2
needs_two = pytest.mark.skipif(not TWO, reason="binding two threads takes two CPUs")
#: prints the team's size, the pools, and the CPUs of the threads after a parallel operator
RUN = """
import json, os, sys
import mxcy as mx

def masks():
    found = []
    for task in sorted(os.listdir("/proc/self/task"), key=int):
        with open(f"/proc/self/task/{task}/status") as file:
            found += [line.split()[1] for line in file if line.startswith("Cpus_allowed_list")]
    return found

found = {"team": mx.runtime.omp_threads()}
mx.util.set_num_threads(2)
mx.nd.exp(mx.nd.ones((2000, 1000))).wait_to_read()
found["masks"] = masks()
child = os.fork()
if child == 0:
    os._exit(len(os.sched_getaffinity(0)))
found["child"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(found))
"""
POOLS = """
import json, numpy
import mxcy as mx
from threadpoolctl import threadpool_info

print(json.dumps([mx.runtime.omp_threads(), *(pool["num_threads"] for pool in threadpool_info())]))
"""
#: one thread, so that all existing threads belong to the team
ALONE = {"OPENBLAS_NUM_THREADS": "1", "MXNET_ENGINE_TYPE": "NaiveEngine"}


def cpus():
    first, second = sorted(os.sched_getaffinity(0))[:2]
    return str(first), str(second)


def everywhere():
    """This process's CPUs, in the system's notation."""
    with open("/proc/self/status") as file:
        (line,) = (line for line in file if line.startswith("Cpus_allowed_list"))
    return line.split()[1]


def run(**variables):
    quiet = ["-W", "ignore:.*fork:DeprecationWarning"]  # Python's, from 3.12 on
    done = python(RUN, options=quiet, **{**ALONE, "OMP_NUM_THREADS": "2", **variables})
    done.err = done.err.replace("MXNet start using engine: NaiveEngine\n", "")
    return done


@pytest.mark.parametrize("threads", ["1", "1,4"])
def test_no_pool_is_larger_than_the_team(threads):
    team, *pools = python(POOLS, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS="2").value
    assert team == 1 and len(pools) >= 2 and max(pools) == 1


def test_upper_bound():
    team, *pools = python(POOLS, MXNET_OMP_MAX_THREADS="1").value
    assert team == 1 and max(pools) == 1
    assert python(POOLS, OMP_NUM_THREADS="3", MXNET_OMP_MAX_THREADS="2").value[0] == 2


def test_variables_set_after_numpy_was_imported():
    code = "import os, numpy; os.environ['OMP_NUM_THREADS'] = '1'\n" + POOLS
    assert set(python(code).value) == {1}


def test_the_default_team_respects_the_mask():
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n" + POOLS
    assert python(code).value[0] == 1


@needs_two
def test_kmp_affinity_binds_the_team():
    first, second = cpus()
    done = run(KMP_AFFINITY=f"granularity=fine,explicit,proclist=[{second},{first}]")
    assert done.value["masks"][:2] == [second, first] and done.err == ""
    masks = run(KMP_AFFINITY="granularity=fine,compact,1,0").value["masks"]
    assert masks[0] == first and masks[1] != first and masks[1].isdigit()


@needs_two
def test_children_of_bound_processes_use_all_cpus():
    assert run(KMP_AFFINITY="compact").value["child"] == len(os.sched_getaffinity(0))


@needs_two
@pytest.mark.parametrize("name", ["KMP_AFFINITY", "OMP_PLACES"])
def test_workers_of_bound_processes_are_free(name):
    """They do not all inherit the single CPU of the thread that starts them (MXNet issue 14087)."""
    code = (
        "import json, os, mxcy as mx\n"
        "found, bound = [], len(os.sched_getaffinity(0))\n"
        "mx.engine.push(lambda: found.append(len(os.sched_getaffinity(0))))\n"
        "mx.engine.waitall()\n"
        "print(json.dumps([bound, *found, mx.runtime.threads()['logical']]))"
    )
    text = {"KMP_AFFINITY": "granularity=fine,compact", "OMP_PLACES": "threads"}[name]
    every = len(os.sched_getaffinity(0))
    assert python(code, **{name: text}).value == [1, every, every]


def test_kmp_affinity_none_binds_nothing():
    assert run(KMP_AFFINITY="none").value["masks"][0] == run().value["masks"][0] == everywhere()


def test_unknown_words_of_kmp_affinity_warn():
    done = run(KMP_AFFINITY="granularity=fine,kompakt")
    assert "KMP_AFFINITY=granularity=fine,kompakt: kompakt is not understood" in done.err
    assert done.value["masks"][0] == everywhere()


@needs_two
def test_kmp_affinity_prints_its_map():
    first, second = cpus()
    err = run(KMP_AFFINITY=f"verbose,explicit,proclist=[{second},{first}]").err
    assert err.splitlines() == [
        f"mxcy KMP_AFFINITY: thread 0 -> CPUs [{second}]",
        f"mxcy KMP_AFFINITY: thread 1 -> CPUs [{first}]",
    ]


@needs_two
def test_kmp_affinity_comes_too_late_for_a_loaded_runtime():
    code = "import ctypes; ctypes.CDLL('libgomp.so.1')\n" + RUN
    done = python(code, KMP_AFFINITY="compact", OMP_NUM_THREADS="2", **ALONE)
    assert "has no effect: another library has loaded the OpenMP runtime" in done.err


@needs_two
def test_omp_places_win():
    first, second = cpus()
    places = f"{{{second}}},{{{first}}}"
    done = run(KMP_AFFINITY="granularity=fine,compact", OMP_PLACES=places, OMP_PROC_BIND="close")
    assert done.value["masks"][:2] == [second, first]


@needs_two
def test_omp_proc_bind_wins():
    done = run(KMP_AFFINITY="compact", OMP_PROC_BIND="false")
    assert done.value["masks"][0] == everywhere() and done.err == ""


@needs_two
def test_gomp_cpu_affinity_wins():
    first, second = cpus()
    done = run(KMP_AFFINITY="granularity=fine,compact", GOMP_CPU_AFFINITY=f"{second} {first}")
    assert done.value["masks"][:2] == [second, first]


def test_a_second_runtime_warns(tmp_path):
    code = (
        "import ctypes, shutil\n"
        "import mxcy._machine.threads\n"
        "from mxcy._machine.threads import openmp_runtimes\n"
        f"copy = shutil.copy(openmp_runtimes()[0], {str(tmp_path / 'libgomp-1234.so.1')!r})\n"
        "ctypes.CDLL(copy)\n"
        "mxcy._machine.threads.check_runtimes()\n"
    )
    err = python(code).err
    assert "UserWarning: 2 OpenMP runtimes are loaded" in err and "libgomp-1234.so.1" in err
    assert "OpenMP runtimes" not in python("import mxcy").err
