"""All environment variables that mxcy reads: name, type, default, meaning, reader, test.

No other module accesses the environment: they call ``env.get(name)``. ``python -m mxcy.env`` prints
the table with current values. The rows are in `mxcy/env/table`, by topic.

A variable is read at import ("I"), at first use ("F"; both are then fixed for the process) or at
each use ("C"). Unset and empty mean the default; an invalid value raises `EnvError` when read.
"""

import os
import sys
from collections.abc import MutableMapping

from mxcy.env.environment import Environment
from mxcy.env.table import PLANNING, TOPICS, VARIABLES
from mxcy.env.variable import EnvError, Variable

__all__ = [
    "EnvError",
    "Environment",
    "PLANNING",
    "TOPICS",
    "VARIABLES",
    "Variable",
    "get",
    "is_set",
    "notice",
    "omp_threads",
    "problems",
    "raw",
    "read_import_time",
    "report",
    "set_raw",
]


def _reports() -> bool:
    """Whether this process runs ``-m mxcy.env`` or ``mxcy.diagnose``, which report bad values."""
    arguments = getattr(sys, "argv", [])  # may be missing in embedded Python
    start = sys.orig_argv[-len(arguments) - 1 :][:2]
    return start in (["-m", __name__], ["-m", "mxcy.diagnose"])


_process = Environment(os.environ, lenient=_reports())
get = _process.get
is_set = _process.is_set
notice = _process.notice
omp_threads = _process.omp_threads
problems = _process.problems
read_import_time = _process.read_import_time
report = _process.report


def raw(name: str) -> str | None:
    """Return the value of any environment variable as str, for ``mx.util.getenv``."""
    return os.environ.get(name)


def set_raw(name: str, text: str | None, target: MutableMapping[str, str] = os.environ) -> None:
    """Set any environment variable, or remove it with None, for ``mx.util.setenv``."""
    if text is None:
        target.pop(name, None)
        return
    target[name] = text
    if target is os.environ:
        notice(name)
