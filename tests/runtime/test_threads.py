"""Threads: KMP_AFFINITY on simulated machines, runtimes and pools of a process."""

import threading

import pytest

import mxcy as mx
from mxcy._base import cpus
from mxcy._base.cpus import Cpu
from mxcy._machine import affinity
from mxcy._machine import threads as process_threads

#: two packages of two cores with two hardware threads: numbered as Linux does
SERVER = [Cpu(n, n // 2 % 2, n % 2, n // 4) for n in range(8)]


def bound(text, threads=4, machine=SERVER):
    return affinity.parse(text).places(machine, threads)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        # hardware threads of a core, then the next core; package 0 has CPUs 0, 1, 4, 5
        ("granularity=fine,compact", [[0], [4], [1], [5]]),
        # all cores of a package first
        ("granularity=fine,compact,1,0", [[0], [1], [2], [3]]),
        ("granularity=thread,compact,1,2", [[2], [3], [4], [5]]),
        ("compact", [[0, 4], [1, 5], [2, 6], [3, 7]]),
        ("granularity=fine,scatter", [[0], [2], [1], [3]]),
        ("scatter", [[0, 4], [2, 6], [1, 5], [3, 7]]),
        ("granularity=socket,compact", [[0, 1, 4, 5], [2, 3, 6, 7]] * 2),
        ("GRANULARITY=FINE,COMPACT,0,6", [[3], [7], [0], [4]]),
        ("granularity=fine,proclist=[3,0-1,{5,6}],explicit", [[3], [0], [1], [5, 6]]),
        ("explicit,proclist=[6,7],verbose", [[6], [7], [6], [7]]),
        ("granularity=fine,balanced", [[0], [1], [2], [3]]),
        ("noverbose,warnings,respect,scatter,0,1", [[2, 6], [1, 5], [3, 7], [0, 4]]),
    ],
)
def test_places(text, places):
    assert bound(text) == places


def test_balanced_threads_of_a_core_are_neighbours():
    assert bound("granularity=fine,balanced", 6) == [[0], [4], [1], [5], [2], [3]]
    assert bound("balanced", 2) == [[0, 4], [1, 5]]


def test_only_cpus_of_the_mask_are_used():
    assert bound("granularity=fine,compact", 3, SERVER[1:3]) == [[1], [2], [1]]
    assert bound("explicit,proclist=[0,1]", 2, SERVER[1:]) == [[1], [1]]
    assert bound("explicit,proclist=[0]", 2, SERVER[1:]) == []


@pytest.mark.parametrize("text", ["none", "disabled", "verbose,none", "granularity=core"])
def test_affinities_that_bind_nothing(text):
    assert not affinity.parse(text).binds


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("compakt", "compakt"),
        ("granularity=tile9,compact", "granularity=tile9"),
        ("compact,1,0,3", "3"),
        ("1,compact", "1"),
        ("explicit", "explicit without proclist"),
        ("compact,proclist=[1]", "proclist"),
        ("explicit,proclist=[a]", "a"),
        ("compact,scatter", "scatter"),
        ("verbose=yes,compact", "verbose=yes"),
    ],
)
def test_invalid_affinities(text, word):
    with pytest.raises(ValueError) as caught:
        affinity.parse(text)
    assert str(caught.value) == word


def test_topology(tmp_path):
    siblings = ("0,4", "1,5", "2,6", "3,7") * 2
    for number, text in enumerate(siblings):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{number}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(text + "\n")
        (folder / "physical_package_id").write_text(f"{(0, 0, 3, 3)[number % 4]}\n")
    actual = cpus.topology(range(8), str(tmp_path))
    assert actual == [Cpu(n, n % 4 // 2, n % 2, n // 4) for n in range(8)]
    assert cpus.topology([9], str(tmp_path)) == [Cpu(9, 0, 0, 0)]


def test_cpu_model(tmp_path):
    cpus.model.cache_clear()
    assert cpus.model(str(tmp_path)) == "unknown"
    (tmp_path / "proc").mkdir()
    text = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon\nstepping\t: 7\n\n"
    (tmp_path / "proc/cpuinfo").write_text(text + text)
    cpus.model.cache_clear()
    assert cpus.model(str(tmp_path)) == "Xeon 6 85 7"


@pytest.mark.parametrize(
    ("flags", "has"),
    [
        ("fpu sse4_2", False),
        ("fpu avx2", True),
        ("avx2 avx512f", False),
        ("avx2 avx512f avx512_vnni", True),
    ],
)
def test_products_of_8_bits(tmp_path, flags, has):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    assert cpus.multiplies_octets(str(tmp_path)) is has


def test_time_that_threads_waited(tmp_path):
    for thread, text in (("1", "5 100 2"), ("2", "9 1000 3")):
        folder = tmp_path / "proc/self/task" / thread
        folder.mkdir(parents=True)
        (folder / "schedstat").write_text(text)
    assert cpus.waited(str(tmp_path)) == 1100
    assert cpus.waited(str(tmp_path / "nowhere")) == 0
    assert cpus.waited() >= 0


def test_one_openmp_runtime_is_loaded(run_python):
    # In a separate process: other tests load scikit-learn, which includes another one.
    told = run_python("import mxcy as mx; print(*mx.runtime.threads()['runtimes'])")
    (path,) = told.split()
    assert "libgomp" in path


def test_several_runtimes_warn(tmp_path, monkeypatch):
    maps = tmp_path / "proc/self/maps"
    maps.parent.mkdir(parents=True)
    names = ("libgomp.so.1.0.0", "torch/lib/libgomp-24e2ab19.so.1.0.0", "libiomp5.so", "libomp.so")
    others = ("libompi.so", "libmxcy.so", "comp.so", "libgomp.txt")
    lines = [f"7f00-7f01 r-xp 0 08:01 5   /usr/lib/{name}\n" * 2 for name in (*names, *others)]
    maps.write_text("".join(lines) + "7f00-7f01 rw-p 0 00:00 0\n")
    actual = process_threads.openmp_runtimes(str(tmp_path))
    assert actual == sorted(f"/usr/lib/{name}" for name in names)
    monkeypatch.setattr(process_threads, "openmp_runtimes", lambda: actual)
    with pytest.warns(UserWarning, match="4 OpenMP runtimes are loaded") as caught:
        process_threads.check_runtimes()
    assert all(path in str(caught[0].message) for path in actual)


def sizes():
    return {pool["filepath"]: pool["num_threads"] for pool in mx.runtime.threads()["pools"]}


def test_set_num_threads_governs_all_pools():
    before, pools = mx.util.get_num_threads(), sizes()
    assert len(pools) >= 2  # OpenMP's and NumPy's
    try:
        assert mx.util.set_num_threads(1) == before
        assert mx.runtime.omp_threads() == mx.util.get_num_threads() == 1
        assert set(sizes().values()) == {1}
        assert mx.util.set_num_threads(64) == 1
        assert mx.runtime.omp_threads() == 64
        assert sizes() == pools  # not more than they had
    finally:
        mx.util.set_num_threads(before)


@pytest.mark.parametrize("threads", [0, -3])
def test_a_team_has_a_thread_at_least(threads):
    before = mx.util.get_num_threads()
    with pytest.raises(ValueError, match="must be positive"):
        mx.util.set_num_threads(threads)
    assert mx.util.get_num_threads() == before


def test_other_threads_use_the_team():
    x, actual = mx.nd.ones((1000, 1000)), []
    thread = threading.Thread(target=lambda: actual.append(mx.nd.sum(x * 2).asscalar()))
    thread.start()
    thread.join()
    assert actual == [2e6]


def test_processors():
    actual = mx.runtime.threads()
    assert 1 <= actual["physical"] <= actual["logical"] == mx.context.num_cpus()
    assert actual["team"] == mx.runtime.omp_threads()
    assert actual["quota"] is None or actual["quota"] > 0
