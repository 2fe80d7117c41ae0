"""Model of the simulated machine: barriers, caches and memory."""

import ctypes
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Machine", "compiled", "measured_barriers"]

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Machine:
    """A machine to predict for.

    Parameters
    ----------
    threads : int
        Cores, each with a thread of the team.
    fixed, each : float
        Nanoseconds of a region, and for each of its threads.
    inner : float
        As `fixed`, of a barrier inside a region.
    second_cache, last_cache : float
        Bytes of a core's private cache and of the shared cache.
    bandwidth : float
        Bytes per nanosecond from main memory to all cores together.
    """

    threads: int
    fixed: float
    each: float
    inner: float = 0.0
    second_cache: float = 2 << 20
    last_cache: float = 60e6
    bandwidth: float = 230.0

    def barrier(self, ends=True):
        """Nanoseconds for opening and closing a region, or of a barrier inside one."""
        fixed = self.fixed if ends else self.inner
        return fixed + self.each * self.threads if self.threads > 1 else 0.0

    def from_memory(self, bytes_):
        """Fraction of a program's arrays that exceeds all caches together."""
        held = self.threads * self.second_cache + self.last_cache
        return max(0.0, 1 - held / bytes_) if bytes_ else 0.0

    def least(self, bytes_, part):
        """Nanoseconds in which memory delivers that fraction of an operator's arrays."""
        return bytes_ * part / self.bandwidth


def compiled(folder):
    """Compile ``team.c`` into a folder; return the library's path."""
    return _compile(folder, "team", "-ldl", "-lpthread", "-lrt")


def _compile(folder, name, *options):
    file = Path(folder, f"{name}.so")
    warnings = ["-Wall", "-Werror"]
    command = ["gcc", "-O2", "-fPIC", "-shared", *warnings, str(_HERE / f"{name}.c")]
    subprocess.run([*command, "-o", str(file), *options], check=True)
    return str(file)


def measured_barriers(folder):
    """Measure regions and barriers of two threads.

    A barrier of N threads is modelled as that of two plus, for each further thread, a transfer of
    the cache line that counts arrivals.

    Parameters
    ----------
    folder : str
        For a compiled library.

    Returns
    -------
    fixed, each, inner : float
        As for `Machine`.
    """
    from mxcy._library.open import open_library

    team = ctypes.CDLL(_compile(folder, "barriers", "-fopenmp", "-lpthread"))
    team.simulate_handover.restype = team.simulate_meeting.restype = ctypes.c_double
    each = team.simulate_handover()
    region_time = open_library().mx_region_time
    region_time.restype = ctypes.c_double
    region_time.argtypes = [ctypes.c_int32, ctypes.c_int64]
    fixed = region_time(2, 20_000_000) - 2 * each
    return fixed, each, max(0.0, team.simulate_meeting() - 2 * each)
