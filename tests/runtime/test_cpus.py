"""Counting usable processors on simulated machines."""

import pytest

from mxcy._base import cpus


@pytest.fixture
def machine(tmp_path):
    """A function that writes system files below a root and returns the root."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(tmp_path)

    return write


def topology(*siblings):
    """The topology files of a machine, given each CPU's hardware threads."""
    folder = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    return {folder.format(cpu): text + "\n" for cpu, text in enumerate(siblings)}


def test_hardware_threads_share_a_core(machine):
    root = machine(topology("0,2", "1,3", "0,2", "1,3"))
    assert cpus.physical_cores(range(4), root) == 2
    assert cpus.physical_cores([0, 2], root) == 1
    assert cpus.physical_cores([0, 1], root) == 2


def test_sibling_ranges(machine):
    root = machine(topology("0-3", "0-3", "0-3", "0-3", "4-5", "4-5"))
    assert cpus.physical_cores(range(6), root) == 2


def test_cpus_without_topology_count_each(machine):
    assert cpus.physical_cores([3, 5, 9], machine({})) == 3


def test_default_mask_is_the_process_own():
    assert 1 <= cpus.physical_cores() <= len(cpus.os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ({"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
                "sys/fs/cgroup/a/cpu.max": "300000 100000\n",  # the parent is tighter
            },
            3.0,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/job\n1:name=systemd:/\n",
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
            },
            2.0,
        ),
        (
            {
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
    ],
)
def test_control_group_quota(machine, files, quota):
    assert cpus.cpu_quota(machine(files)) == quota


@pytest.mark.parametrize(
    ("limit", "cores"), [("max 100000", 4), ("250000 100000", 2), ("50000 100000", 1)]
)
def test_usable_cores_are_capped_by_the_quota(machine, limit, cores):
    root = machine({**topology("0", "1", "2", "3"), "sys/fs/cgroup/cpu.max": limit})
    assert cpus.usable_cores(range(4), root) == cores
