"""Operator tuning: is a call worth the team of threads? Decided by what this machine measured.

With one thread a call takes ``work * alone`` nanoseconds, with the team ``region + work * team``:
`region` is what it costs to open and close a parallel region, `alone` and `team` are nanoseconds
per step of a kernel's work, in the caches or outside them. They are measured when a call comes
whose size leaves room for doubt, in at most some milliseconds, and kept in a file under MXNET_HOME.
The decision is made once per signature, when the call is prepared; running it costs a branch.

Not tuned, and parallel from MXNET_CPU_PARALLEL_SIZE on: what MXNET_USE_OPERATOR_TUNING leaves out;
everything when MXNET_CPU_PARALLEL_SIZE is set or MXNET_ENFORCE_DETERMINISM=1; kernels of oneDNN,
and those that draw random numbers.
"""

from mxcy._machine.tuning.tuner import ALL, Library, Tuner

__all__ = ["ALL", "Library", "op_tuning", "plug", "threads_for", "tuning"]

_tuner = Tuner()
plug = _tuner.plug
threads_for = _tuner.threads_for
tuning = _tuner.summary
op_tuning = _tuner.rows
