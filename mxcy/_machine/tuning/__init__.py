"""Operator tuning: deciding from measurements whether a call is worth using the thread team.

With one thread a call takes ``work * alone`` nanoseconds, with the team ``region + work * team``:
`region` is the cost of a parallel region, `alone` and `team` are nanoseconds per step of a kernel's
work, with data in the caches or outside. They are measured when a call's size makes the decision
uncertain, within milliseconds, and stored in a file under MXNET_HOME. The decision is made once per
signature, when the call is prepared; at run time it is a branch.

Not tuned, and parallel from MXNET_CPU_PARALLEL_SIZE on: types left out of
MXNET_USE_OPERATOR_TUNING; everything if MXNET_CPU_PARALLEL_SIZE is set or
MXNET_ENFORCE_DETERMINISM=1; kernels of oneDNN, and those that draw random numbers.
"""

from mxcy._machine.tuning.tuner import ALL, Library, Tuner

__all__ = ["ALL", "Library", "op_tuning", "plug", "threads_for", "tuning"]

_tuner = Tuner()
plug = _tuner.plug
threads_for = _tuner.threads_for
tuning = _tuner.summary
op_tuning = _tuner.rows
