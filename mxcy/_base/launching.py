"""Whether this process only starts others."""

import sys

__all__ = ["is_launcher"]

_LAUNCHER = "mxcy.tools.launch"


def is_launcher() -> bool:
    """Whether Python runs ``-m mxcy.tools.launch`` and is importing its packages."""
    if sys.argv[:1] != ["-m"] or "-m" not in sys.orig_argv:
        return False
    return sys.orig_argv[sys.orig_argv.index("-m") + 1] == _LAUNCHER
