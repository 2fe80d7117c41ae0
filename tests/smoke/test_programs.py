"""``python -m mxcy`` and ``python -m mxcy.examples`` list the available programs."""

import ast
import importlib.util
from pathlib import Path

import mxcy
from mxcy.__main__ import PROGRAMS
from tests.env.run import python

PACKAGE = Path(mxcy.__file__).parent
#: started by mxcy.tools.launch, not by people
INNER = {"mxcy.tools.rank"}


def programs():
    """The modules of the package that are programs."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(
            isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body
        ):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__main__")


def test_all_programs_are_named():
    assert set(programs()) - INNER - {"mxcy", "mxcy.examples"} == set(PROGRAMS)
    assert all(importlib.util.find_spec(name) for name in PROGRAMS)


def test_the_package_lists_its_programs():
    out = python("-m", "mxcy").out
    assert all(f"python -m {name} " in out for name in PROGRAMS)


def test_examples_are_listed():
    out = python("-m", "mxcy.examples").out
    examples = [name for name in PROGRAMS if name.startswith("mxcy.examples.")]
    assert examples
    assert all(f"python -m {name} " in out for name in examples)
