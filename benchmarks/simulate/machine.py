"""Model of the simulated machine: barriers, caches and memory."""

import ctypes
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Machine", "compiled", "measured_barrier"]

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Machine:
    """A machine to predict for.

    Parameters
    ----------
    threads : int
        Cores, each with a thread of the team.
    fixed, each : float
        Nanoseconds of a barrier, and for each of its threads.
    second_cache, last_cache : float
        Bytes of a core's private cache and of the shared cache.
    bandwidth : float
        Bytes per nanosecond from main memory to all cores together.
    """

    threads: int
    fixed: float
    each: float
    second_cache: float = 2 << 20
    last_cache: float = 60e6
    bandwidth: float = 230.0

    @property
    def barrier(self):
        """Nanoseconds for opening and closing a region."""
        return self.fixed + self.each * self.threads if self.threads > 1 else 0.0

    def from_memory(self, bytes_):
        """Fraction of a program's arrays that exceeds all caches together."""
        held = self.threads * self.second_cache + self.last_cache
        return max(0.0, 1 - held / bytes_) if bytes_ else 0.0

    def least(self, bytes_, part):
        """Nanoseconds in which memory delivers that fraction of an operator's arrays."""
        return bytes_ * part / self.bandwidth


def compiled(folder):
    """Compile ``team.c`` into a folder; return the file's path."""
    file = Path(folder, "team.so")
    options = ["-O2", "-fPIC", "-shared", "-Wall", "-Werror"]
    command = ["gcc", *options, str(_HERE / "team.c"), "-o", str(file), "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return str(file)


def measured_barrier(library):
    """Measure a region of two threads and a cache line transfer between cores, in nanoseconds.

    A barrier of N threads is modelled as that of two plus, for each further thread, a transfer of
    the cache line that counts arrivals.

    Parameters
    ----------
    library : str
        ``team.c``, compiled.

    Returns
    -------
    fixed, each : float
    """
    from mxcy._library.open import open_library

    team = ctypes.CDLL(library)
    team.simulate_handover.restype = ctypes.c_double
    each = team.simulate_handover()
    region_time = open_library().mx_region_time
    region_time.restype = ctypes.c_double
    region_time.argtypes = [ctypes.c_int32, ctypes.c_int64]
    return region_time(2, 20_000_000) - 2 * each, each
