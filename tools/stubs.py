"""Generate the stubs (.pyi) of mxcy for editors and type checkers.

Functions of operators are created on first access, so static tools cannot see them. Their stubs are
generated from the records: names, attributes with types and defaults, a line of documentation.
Stubs of handwritten functions are generated from signatures and docstrings.

    python -m tools.stubs           lists outdated stubs; exits with 1 if there are any
    python -m tools.stubs --write   writes them
"""

import importlib
import inspect
import os
import pkgutil
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

# Both fronts have the same interface, but only Python functions can be inspected.
os.environ["MXNET_ENABLE_CYTHON"] = "0"
os.environ["MXNET_PROFILER_AUTOSTART"] = "0"

import mxcy
from mxcy._base.files import replacing
from mxcy.ops.core import homes
from tools.stub_parts import WIDTH, method, operator, summary, written

__all__ = ["generated"]

ROOT = Path(__file__).resolve().parents[1]
#: preamble of stubs: name -> line that defines it
PREAMBLE = {
    "Iterator": "from collections.abc import Iterator",
    "Sequence": "from collections.abc import Sequence",
    "Any": "from typing import Any",
    "Literal": "from typing import Literal",
    "TypeAlias": "from typing import TypeAlias",
    "np": "import numpy as np",
    "Context": "from mxcy.context import Context",
    "NDArray": "from mxcy.ndarray.ndarray import NDArray",
    "_Shape": "_Shape: TypeAlias = int | Sequence[int | None]",
    "_Floats": "_Floats: TypeAlias = float | Sequence[float]",
    "_DType": "_DType: TypeAlias = str | type | np.dtype[Any] | None",
    "_Out": "_Out: TypeAlias = NDArray | list[NDArray] | None",
}
#: public modules of `mx.nd` and `mx.sym`
MODULES = (
    "_internal",
    "contrib",
    "image",
    "linalg",
    "ndarray",
    "op",
    "random",
    "register",
    "sparse",
    "symbol",
    "utils",
)


def class_stub(module, cls):
    """Return the stub of the module of the array or symbol class; other names are untyped."""
    kind = cls.__name__
    bodies = [
        method(name, inspect.getattr_static(cls, name), kind)
        for name in sorted(dir(cls), key=lambda name: (name.startswith("_"), name))
        if not hasattr(object, name) or name in vars(cls)
    ]
    names = "def __getattr__(name: str) -> Any: ...\n\n"
    first = f'class {kind}:\n    """{summary(cls.__doc__)}"""\n\n'
    imports = f"from {module.__package__} import op\n"
    return stub(module, imports, names + first + "".join(bodies))


# --- modules ---
def stub(module, imports, body):
    """Return a module's stub, with the required preamble."""
    used, lines = imports + body, []
    for name, line in reversed(PREAMBLE.items()):
        if (
            re.search(rf"\b{name}\b", used)
            and not re.search(rf" as {name}\b", imports)
            and f"class {name}:" not in body
        ):
            lines.insert(0, line)
            used += line
    aliases = [line for line in lines if line.startswith("_")]
    imported = "".join(f"{line}\n" for line in lines if line not in aliases)
    parts = [imported + imports, "".join(f"{line}\n" for line in aliases), body]
    head = f'"""{summary(module.__doc__)}"""\n\n# Written by `python -m tools.stubs --write`.\n\n'
    return head + "\n".join(filter(None, parts))


def imported(package, names):
    """Format an import that re-exports names of a module, wrapped to the line length."""
    line = ", ".join(f"{name} as {name}".replace(" ", "\0") for name in sorted(names))
    wrapped = textwrap.fill(
        line + ",", WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False
    ).replace("\0", " ")
    return f"from {package} import (\n{wrapped}\n)\n" if names else ""


def namespace_stub(module, namespace, kind):
    """Return the stub of a module with a namespace's operators and handwritten functions."""
    package = "mxcy.ndarray" if kind == "NDArray" else "mxcy.symbol"
    offered = {f"{package}.{kind.lower()}": [kind]}  # module -> re-exported names
    bodies = {}
    for name, value in vars(module).items():
        home = getattr(value, "__module__", None) or ""
        by_hand = home.startswith(package) and not hasattr(value, "__mx_params__")
        if name.startswith("_") or name == kind or not by_hand:
            continue
        if inspect.isclass(value):
            offered.setdefault(home, []).append(name)
        elif inspect.isfunction(inspect.unwrap(value)):
            bodies[name] = written(name, value)
    operators = set(homes.names(namespace)) - bodies.keys()
    if module.__name__ == package:
        offered[package] = [name for name in MODULES if hasattr(module, name)]
        offered[f"{package}.op"] = operators
    else:
        for name in operators:
            record = homes.registered(namespace, name)
            bodies[name] = operator(name, record, kind) if record.foreign is None else ""
    imports = "".join(imported(home, names) for home, names in sorted(offered.items()))
    return stub(module, imports, "".join(bodies[name] for name in sorted(bodies)))


def package_stub(package):
    """Return the stub of a package that re-exports names of its modules."""
    offered, body = {}, ""
    for name in package.__all__:
        value = getattr(package, name)
        home = getattr(value, "__module__", None)
        if isinstance(value, ModuleType):
            offered.setdefault(package.__name__, []).append(name)
        elif home is None or getattr(value, "__name__", None) != name:
            body += f"{name}: Any\n"
        elif home == package.__name__ or getattr(sys.modules[home], name, None) is not value:
            body += written(name, value)
        else:
            offered.setdefault(home, []).append(name)
    return stub(package, "".join(imported(*each) for each in sorted(offered.items())), body)


def root_stub():
    """Return the stub of `mxcy` itself, most of whose modules are imported on first access."""
    lines = []
    names = {*mxcy.__all__, *mxcy._LATER} - {"__version__"}
    for name in sorted(names):
        value = mxcy._LATER.get(name) or getattr(mxcy, name)
        if isinstance(value, (str, ModuleType)):
            package, _, module = (value if isinstance(value, str) else value.__name__).rpartition(
                "."
            )
            lines.append(f"from {package} import {module} as {name}\n")
        else:
            lines.append(f"from {value.__module__} import {value.__name__} as {name}\n")
    return stub(mxcy, "".join(sorted(lines)), f"__all__ = {sorted(names)}\n__version__: str\n")


def generated():
    """Return the text of every stub, by path."""
    stubs = {ROOT / "mxcy" / "__init__.pyi": root_stub()}
    for package, cls in ((mxcy.nd, mxcy.nd.NDArray), (mxcy.sym, mxcy.sym.Symbol)):
        kind = cls.__name__
        folder = ROOT / package.__name__.replace(".", "/")
        stubs[folder / "__init__.pyi"] = namespace_stub(package, homes.MAIN, kind)
        stubs[folder / "op.pyi"] = namespace_stub(package.op, homes.MAIN, kind)
        stubs[folder / f"{kind.lower()}.pyi"] = class_stub(sys.modules[cls.__module__], cls)
        for namespace in ("contrib", "image", "linalg", "random", "sparse"):
            module = getattr(package, namespace)
            stubs[Path(module.__file__).with_suffix(".pyi")] = namespace_stub(
                module, namespace, kind
            )
    # after those of arrays: one of these imports mx.np, which changes the methods' signatures
    for info in pkgutil.walk_packages(mxcy.gluon.__path__, "mxcy.gluon."):
        if info.ispkg and "._" not in info.name:  # private packages have no stubs
            package = importlib.import_module(info.name)
            stubs[Path(package.__file__).with_suffix(".pyi")] = package_stub(package)
    stubs[ROOT / "mxcy" / "gluon" / "__init__.pyi"] = package_stub(mxcy.gluon)
    return stubs


def main():
    """Compare or write the stubs; return the exit status."""
    stale = 0
    for path, text in generated().items():
        if path.exists() and path.read_text() == text:
            continue
        if "--write" in sys.argv:
            with replacing(path) as file:
                file.write(text.encode())
        else:
            print(f"{path.relative_to(ROOT)} is out of date: python -m tools.stubs --write")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
