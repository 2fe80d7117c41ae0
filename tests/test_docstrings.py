"""Public names are documented, and docstrings describe only existing parameters."""

import importlib
import inspect
import pkgutil
import re

import mxcy

#: both fronts (a process imports one), programs, a module that starts the profiler, the library
SKIPPED = (
    "mxcy._c",
    "mxcy.examples",
    "mxcy.torch",
    "mxcy.libmxcy",
    "mxcy.compat.__main__",
    "mxcy.env.__main__",
    "mxcy.profiler.autostart",
)


def functions_and_classes():
    """Every (qualified name, object) that a module of the package defines in public."""
    for actual in pkgutil.walk_packages(mxcy.__path__, "mxcy."):
        if actual.name.startswith(SKIPPED):
            continue
        module = importlib.import_module(actual.name)
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(inspect.unwrap(value)) or inspect.isclass(value):
                yield f"{module.__name__}.{name}", value


def methods(qualified, cls):
    """Every public (qualified name, method or property) that a class itself defines."""
    for name, member in vars(cls).items():
        value = inspect.unwrap(getattr(member, "__func__", member))
        if not name.startswith("_") and isinstance(value, (property, type(methods))):
            yield (
                f"{qualified}.{name}",
                value if isinstance(value, property) else getattr(cls, name),
            )


def documented():
    for qualified, value in functions_and_classes():
        yield qualified, value
        # The functions in a record's class are rules, explained where records are.
        if inspect.isclass(value) and not qualified.startswith("mxcy.ops."):
            yield from methods(qualified, value)


def named_parameters(doc):
    """The names that the section "Parameters" of a docstring describes, without stars."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", doc, re.M | re.S)
    if section is None:
        return []
    entries = [line for line in section[1].splitlines() if line and not line.startswith(" ")]
    names = [name for entry in entries for name in entry.split(" : ")[0].split(",")]
    return [name.strip().lstrip("*") for name in names]


def test_everything_public_has_docs_own_or_inherited():
    assert not [qualified for qualified, value in documented() if not inspect.getdoc(value)]


def test_docs_describe_parameters_of_the_signature():
    wrong = {}
    for qualified, value in documented():
        names = named_parameters(inspect.cleandoc(value.__doc__ or ""))
        if not names or isinstance(value, property):
            continue
        parameters = inspect.signature(value).parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            continue
        unknown = [name for name in names if name not in parameters]
        if unknown:
            wrong[qualified] = unknown
    assert wrong == {}
