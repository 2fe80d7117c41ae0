"""Which processors the builds of the kernels are for."""

import platform

__all__ = ["is_x86", "level_name"]


def is_x86() -> bool:
    """Whether this machine has the instructions of x86-64, whatever their level."""
    return platform.machine() == "x86_64"


def level_name(level: int) -> str:
    """What the library's build of the kernels for a level is called.

    Parameters
    ----------
    level : int
        2, 3 or 4; elsewhere than on x86-64 there is 2 alone, with vectors of the same length.
    """
    return f"x86-64-v{level}" if is_x86() else "AArch64 with NEON"
