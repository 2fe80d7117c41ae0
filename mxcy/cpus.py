"""How many processors this process may use: physical cores in its mask, capped by its CPU quota.

Everything is read below `root`, so that tests can describe other machines.
"""

import os
from collections.abc import Collection

__all__ = ["physical_cores", "cpu_quota", "usable_cores"]


def _text(*parts: str) -> str | None:
    """The content of a small system file, None where there is no such file."""
    try:
        with open(os.path.join(*parts), encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _cpu_list(text: str) -> set[int]:
    """The CPU numbers of a kernel list such as ``0-3,8``."""
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
        Logical CPU numbers; by default those the calling thread may run on.
    root : str, optional
        Where ``/sys`` hangs. CPUs without topology files count as cores of their own.
    """
    left = set(os.sched_getaffinity(0) if affinity is None else affinity)
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
    """This process's control group for a controller (``""`` is version 2) and all its parents."""
    for line in (_text(root, "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if line_of in controllers.split(","):
            names = [name for name in path.split("/") if name]
            return ["/".join(names[:n]) for n in range(len(names), -1, -1)]
    return [""]  # a container may hide its path; the mount point is then its own group


def cpu_quota(root: str = "/") -> float | None:
    """The CPU time this process may use, in processors; None when it is not limited.

    The tightest limit counts among the process's control group and its parents, versions 1 and 2.
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
