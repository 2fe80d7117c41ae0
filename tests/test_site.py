"""The pages of the site: their examples print what they say, and names in their tables exist."""

import doctest
import importlib.util
import re
import sys
import warnings
from pathlib import Path

import pytest

import mxcy as mx

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
if not DOCS.is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

PAGES = sorted(path for path in DOCS.rglob("*.md") if "reference" not in path.parts)
EXAMPLES = {
    path: blocks
    for path in PAGES
    if (
        blocks := re.findall(r"^```pycon\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    )
}
TABLES = sorted((DOCS / "coming_from").glob("[mp]*.md"))


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_examples_print_what_the_page_says(page):
    if "import onnx" in "".join(EXAMPLES[page]):
        pytest.importorskip("onnx")
    mx.random.seed(7)
    parser, report = doctest.DocTestParser(), []
    examples = parser.get_doctest("\n".join(EXAMPLES[page]), {"mx": mx}, page.name, str(page), 0)
    assert examples.examples
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of processors without instructions for 8 bits
            failed, _ = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    finally:
        mx.npx.reset_np()
    assert not failed, "".join(report)


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.stem)
def test_names_in_tables_exist(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|") and "| none |" not in line]
    names = re.findall(r"`(mx(?:\.[A-Za-z]\w*)+)", "".join(rows))
    assert names
    absent = []
    for name in names:
        owner = mx
        for part in name.split(".")[1:]:
            owner = getattr(owner, part, None)
        absent += [name] if owner is None else []
    assert not absent


def test_every_page_is_in_a_list_of_pages():
    listed = {"index"}
    for page in PAGES:
        for block in re.findall(
            r"^```{toctree}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
        ):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / name).relative_to(DOCS).as_posix() for name in names}
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES}
    assert pages == {name for name in listed if not name.startswith("reference/")}


def extension(name):
    """A module of docs/_ext."""
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "_ext" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS / "_ext"))
    return module


def test_drawings_are_made_from_the_code():
    drawings = extension("drawings")
    files = drawings.files()
    assert "fold_batch_norm" in files["plan.svg"] or "conv" in files["plan.svg"]
    assert all(f">{name}<" in files["push.svg"] for name in drawings.PUSHED)
    assert drawings.waits()["next images"] == ["load images", "predict"]
    for line in files["call.txt"].splitlines():
        path = line.split()[0]
        assert not path.endswith(".py") or (ROOT / path).is_file()


def test_every_public_name_of_the_listed_modules_has_a_section():
    pages = extension("class_pages").pages()
    text = "".join(pages.values())
    for name in (
        "NDArray",
        "Symbol",
        "HybridBlock",
        "Trainer",
        "Module",
        "DataLoader",
        "Adam",
        "Xavier",
    ):
        assert f"\n## {name}\n" in text
    assert len(re.findall(r"^## ", text, re.M)) > 450
    assert not re.search(r"^Parameters$", text, re.M)
