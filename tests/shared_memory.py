"""Leaks of shared memory."""

from pathlib import Path

__all__ = ["named_segments"]


def named_segments():
    """The shared memory that this process has mapped under a name, which would outlive a crash.

    Other programs' files in /dev/shm come and go; memory without a name is marked as deleted.
    """
    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if "/dev/shm/" in line and not line.endswith("(deleted)")]
