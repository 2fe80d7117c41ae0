"""``python -m mxcy.env [--markdown | --check]``."""

import argparse
import sys

from mxcy import env
from mxcy.env import document

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Print the table, the documentation page, or problems; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m mxcy.env", description="Environment variables that mxcy reads."
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--markdown", action="store_true", help="print docs/environment.md")
    choice.add_argument(
        "--check", action="store_true", help="list unknown names and invalid values; fail if any"
    )
    asked = parser.parse_args(arguments)
    if asked.markdown:
        print(document.page(), end="")
        return 0
    if asked.check:
        problems = env.problems()
        print("\n".join(problems) or "the environment is fine")
        return 1 if problems else 0
    print(document.listing(env.report()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
