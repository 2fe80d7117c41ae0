"""Test environment: devices, environment variables, standard error."""

import contextlib
import os
import platform
import sys

from mxcy import env
from mxcy.context import num_gpus

__all__ = [
    "discard_stderr",
    "environment",
    "has_tvm_ops",
    "is_aarch64_run",
    "is_cd_run",
    "is_op_runnable",
    "list_gpus",
]


def list_gpus():
    """Return the indices of the GPUs that mxcy can use."""
    return range(num_gpus())


def is_op_runnable():
    """Return whether operators can run on the current device: True on all devices."""
    return True


def has_tvm_ops():
    """Return whether operators were compiled by TVM: always False."""
    return False


def is_aarch64_run():
    """Return whether this machine has 64-bit ARM processors."""
    return platform.machine() == "aarch64"


def is_cd_run():
    """Return whether this is a continuous delivery run, by the variable CD_JOB."""
    return env.raw("CD_JOB") == "1"


@contextlib.contextmanager
def environment(*args):
    """Set environment variables inside a ``with`` statement.

    Parameters
    ----------
    *args
        A name and its value, or one dict of them; None removes a variable.
    """
    assert len(args) in (1, 2), "expected a name and a value, or one dict"
    wanted = args[0] if len(args) == 1 else {args[0]: args[1]}
    assert isinstance(wanted, dict), f"expected a name and a value, or one dict, got {wanted!r}"
    before = {name: env.raw(name) for name in wanted}
    try:
        for name, text in wanted.items():
            env.set_raw(name, None if text is None else str(text))
        yield
    finally:
        for name, text in before.items():
            env.set_raw(name, text)


@contextlib.contextmanager
def discard_stderr():
    """Discard standard error output inside a ``with`` statement."""
    sys.stderr.flush()
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
