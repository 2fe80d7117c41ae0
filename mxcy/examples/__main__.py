"""``python -m mxcy.examples``: list of the examples."""

import pkgutil
from ast import get_docstring, parse
from pathlib import Path

FOLDER = Path(__file__).parent


def main():
    """Print the examples and how to start them."""
    print("Examples, each with --help:\n")
    for module in pkgutil.iter_modules([str(FOLDER)]):
        if module.name != "__main__":
            text = (FOLDER / f"{module.name}.py").read_text(encoding="utf-8")
            what = get_docstring(parse(text)).splitlines()[0]
            print(f"  python -m mxcy.examples.{module.name:<12} {what}")


if __name__ == "__main__":
    main()
