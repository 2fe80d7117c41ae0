"""The package's metadata is accurate."""

import re
import tomllib
from importlib import import_module, metadata
from pathlib import Path

import pytest

import mxcy as mx

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "pyproject.toml").is_file():
    pytest.skip("the sources are not beside the tests", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTENSIONS = sorted((ROOT / "mxcy" / "_cy").rglob("*.pyx"))


def test_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", mx.__version__)
    assert mx.__version__ in (ROOT / "CHANGELOG.md").read_text()
    try:
        installed = metadata.version("mxcy")
    except metadata.PackageNotFoundError:
        return  # used from the source tree
    assert installed == mx.__version__


def test_needed_at_run_time():
    names = {re.match(r"[\w-]+", text).group() for text in PROJECT["dependencies"]}
    assert names == {"numpy", "threadpoolctl"}
    assert any(text.startswith("numpy>=2") for text in PROJECT["dependencies"])


def _is_made_in(value, module):
    name = getattr(value, "__name__", "_")
    return getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")


@pytest.mark.parametrize("path", EXTENSIONS, ids=lambda path: path.stem)
def test_extension_modules_have_stubs(path):
    """Each .pyx with names for Python has a .pyi, whose declarations exist."""
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    own = [value for value in vars(module).values() if _is_made_in(value, module)]
    if not own:
        return
    stub = path.with_suffix(".pyi").read_text()
    declared = re.findall(r"^(?:def |class )?(\w+)(?=[(:])", stub, re.M)
    assert declared
    assert not [name for name in declared if not hasattr(module, name)]


def test_licences_are_there():
    for name in PROJECT["license-files"]:
        assert (ROOT / name).stat().st_size > 300


def test_documents_point_to_files_that_exist():
    for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text()
        targets = re.findall(r"\]\(((?!http|#)[^)\s]+)\)", text)
        for target in targets:
            path, _, section = target.partition("#")
            assert (ROOT / path).exists(), f"{document} points to {target}"
            headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(), re.M) if section else []
            named = {heading.lower().replace(" ", "-") for heading in headings}
            assert not section or section in named, f"{document} points to {target}"
        for target in re.findall(r"`((?:mxcy|kernels|tests|benchmarks)/[\w./-]+)`", text):
            assert (ROOT / target).exists(), f"{document} names {target}"
