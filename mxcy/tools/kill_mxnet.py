"""End this user's jobs started by ``mxcy.tools.launch`` on this machine, and nothing else."""

import sys

from mxcy.tools import jobs

__all__ = ["main"]


def main():
    """Run the program."""
    ended = jobs.end_all()
    print(f"ended {len(ended)} job{'s' * (len(ended) != 1)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
