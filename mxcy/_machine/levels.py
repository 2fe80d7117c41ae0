"""ISA levels of the kernel builds."""

import platform

__all__ = ["is_x86", "level_name"]


def is_x86() -> bool:
    """Whether this machine is x86-64, at any ISA level."""
    return platform.machine() == "x86_64"


def level_name(level: int) -> str:
    """The name of the kernel build for an ISA level.

    Parameters
    ----------
    level : int
        2, 3 or 4; on other architectures only 2, with the same vector length.
    """
    return f"x86-64-v{level}" if is_x86() else "AArch64 with NEON"
