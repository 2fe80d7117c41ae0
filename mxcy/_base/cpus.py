"""The number of CPUs this process may use: physical cores in its mask, capped by its CPU quota.

All files are read below `root`, so that tests can describe other machines.
"""

import functools
import os
import re
from collections.abc import Collection
from typing import NamedTuple

__all__ = [
    "Cpu",
    "cpu_quota",
    "keep_mask",
    "logical_processors",
    "mask",
    "model",
    "physical_cores",
    "topology",
    "usable_cores",
    "waited",
]


def _text(*parts: str) -> str | None:
    """Read a small system file; None if it does not exist."""
    try:
        with open(os.path.join(*parts), encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _cpu_list(text: str) -> set[int]:
    """Parse the CPU numbers of a kernel list such as ``0-3,8``."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def physical_cores(affinity: Collection[int] | None = None, root: str = "/") -> int:
    """The number of distinct physical cores among the CPUs of an affinity mask.

    Parameters
    ----------
    affinity : collection of int, optional
        Logical CPU numbers; by default those of `mask`.
    root : str, optional
        The directory that holds ``sys``. CPUs without topology files count as separate cores.
    """
    left = set(mask() if affinity is None else affinity)
    cores = 0
    while left:
        cpu = left.pop()
        cores += 1
        folder = f"sys/devices/system/cpu/cpu{cpu}/topology"
        siblings = _text(root, folder, "thread_siblings_list")
        if siblings:
            left -= _cpu_list(siblings)
    return max(cores, 1)


def _group_paths(line_of: str, root: str) -> list[str]:
    """The process's cgroup for a controller (``""`` is version 2) and its ancestors."""
    for line in (_text(root, "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if line_of in controllers.split(","):
            names = [name for name in path.split("/") if name]
            return ["/".join(names[:n]) for n in range(len(names), -1, -1)]
    return [""]  # a container may hide its path; the mount point is then its own group


class _Process:
    mask: set[int] | None = None  # as of before a thread was bound to a subset


def mask() -> set[int]:
    """The CPUs this process may use: the mask kept by `keep_mask`, else the calling thread's."""
    return os.sched_getaffinity(0) if _Process.mask is None else _Process.mask


def keep_mask() -> set[int]:
    """Save the current mask before the calling thread is bound to a subset of it."""
    _Process.mask = os.sched_getaffinity(0)
    return _Process.mask


class Cpu(NamedTuple):
    """A logical processor: its package, its core within that, its hardware thread within the core.

    All but `number` count from 0 in the system's order.
    """

    number: int
    package: int
    core: int
    thread: int


def topology(affinity: Collection[int] | None = None, root: str = "/") -> list[Cpu]:
    """The CPUs of an affinity mask with their position; parameters as for `physical_cores`."""
    cpus: list[Cpu] = []
    packages: dict[str, int] = {}
    cores: dict[tuple[int, int], int] = {}  # package and first sibling -> number in the package
    for cpu in sorted(mask() if affinity is None else affinity):
        folder = f"sys/devices/system/cpu/cpu{cpu}/topology"
        siblings = sorted(_cpu_list(_text(root, folder, "thread_siblings_list") or str(cpu)))
        name = (_text(root, folder, "physical_package_id") or "0").strip()
        package = packages.setdefault(name, len(packages))
        known = sum(1 for place in cores if place[0] == package)
        core = cores.setdefault((package, siblings[0]), known)
        cpus.append(Cpu(cpu, package, core, siblings.index(cpu)))
    return cpus


def cpu_quota(root: str = "/") -> float | None:
    """The CPU quota of this process, in processors; None if unlimited.

    The tightest limit among the process's cgroup and its ancestors, versions 1 and 2.
    """
    limits: list[float] = []
    for mount in ("sys/fs/cgroup", "sys/fs/cgroup/unified"):
        for group in _group_paths("", root):
            quota, _, period = (_text(root, mount, group, "cpu.max") or "max").partition(" ")
            if quota.strip() != "max":
                limits.append(float(quota) / float(period))
    for mount in ("sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"):
        for group in _group_paths("cpu", root):
            budget = float(_text(root, mount, group, "cpu.cfs_quota_us") or -1)
            length = float(_text(root, mount, group, "cpu.cfs_period_us") or 0)
            if budget > 0 and length > 0:
                limits.append(budget / length)
    return min(limits, default=None)


def usable_cores(affinity: Collection[int] | None = None, root: str = "/") -> int:
    """The default team size: physical cores, capped by the CPU quota, at least 1."""
    cores = physical_cores(affinity, root)
    quota = cpu_quota(root)
    return cores if quota is None else max(1, min(cores, int(quota)))


@functools.cache
def model(root: str = "/") -> str:
    """The CPU's name, family, model and stepping from ``/proc/cpuinfo``.

    Virtual machines give several generations the same name; the numbers tell them apart.
    """
    fields = _fields(root)
    parts = [fields.get(key) for key in ("model name", "cpu family", "model", "stepping")]
    return " ".join(part for part in parts if part) or "unknown"


@functools.cache
def multiplies_octets(root: str = "/") -> bool:
    """Whether 8-bit layers have fast kernels: for AVX2, or for AVX-512 with VNNI."""
    known = _fields(root).get("flags", "").split()
    return "avx512_vnni" in known or ("avx2" in known and "avx512f" not in known)


def _fields(root: str) -> dict[str, str]:
    """The ``/proc/cpuinfo`` fields of the last CPU."""
    return dict(re.findall(r"^([^\t:]+)\s*: (.+)$", _text(root, "proc/cpuinfo") or "", re.M))


def logical_processors(affinity: Collection[int] | None = None) -> int:
    """The number of CPUs in an affinity mask, counting hardware threads separately."""
    return len(mask() if affinity is None else affinity)


def waited(root: str = "/") -> int:
    """Nanoseconds that this process's threads spent runnable but without a CPU.

    0 on kernels that do not report it. Threads that have ended are not included.
    """
    folder = os.path.join(root, "proc/self/task")
    try:
        threads = os.listdir(folder)
    except OSError:
        return 0
    counts = (_text(folder, thread, "schedstat") for thread in threads)
    return sum(int(count.split()[1]) for count in counts if count)
