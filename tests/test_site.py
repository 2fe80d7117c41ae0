"""The pages of the site: examples print the shown output, and names in tables exist."""

import doctest
import importlib.util
import re
import shutil
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
FENCE = re.compile(r"(<!-- not executed: [^>]+-->\n)?^( *)```(\w+)\n(.*?)^ *```$", re.M | re.S)
OPTIONAL = {"import onnx": "onnx", "mx.onnx.": "onnx", "recordio.pack_img": "cv2"}


def examples(page):
    """The blocks of a page that are executed, as doctest's examples."""
    result, programs = [], {}
    for unless, indent, language, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if unless:
            programs = None
            continue
        if language == "pycon":
            result += doctest.DocTestParser().get_examples(text)
        elif language == "python":
            assert not indent, f"{page}: a program that begins with spaces"
            result.append(doctest.Example(f"exec({text!r}, globals())", "", lineno=len(result)))
        elif language == "text" and programs == "python":
            result[-1].want = text
        programs = language
    return result


EXAMPLES = [page for page in PAGES if examples(page)]
TABLES = sorted((DOCS / "coming_from").glob("[mp]*.md"))


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    blocks = examples(page)
    text = "".join(block.source for block in blocks)
    for words, package in OPTIONAL.items():
        if words in text:
            pytest.importorskip(package)
    if "plot_network(" in text and importlib.util.find_spec("graphviz") and not shutil.which("dot"):
        pytest.skip("the package graphviz needs the program dot")
    monkeypatch.chdir(tmp_path)
    mx.random.seed(7)
    report = []
    test = doctest.DocTest(blocks, {}, page.name, str(page), 0, None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about CPUs without int8 instructions
            failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    finally:
        mx.npx.reset_np()
        mx.amp.reset()
        mx.profiler.set_state("stop")
    assert not failed, "".join(report)


def test_commands_of_the_pages_exist():
    """Modules after python -m, and targets of make."""
    targets = re.findall(r"^([\w-]+)(?:(?= )[\w -]*)?:(?!=)", (ROOT / "Makefile").read_text(), re.M)
    absent, commands = [], 0
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]:
        for block in re.findall(
            r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
        ):
            for module in re.findall(r"python -m (mxcy[\w.]*)", block):
                commands += 1
                absent += [] if importlib.util.find_spec(module) else [(page.name, module)]
            for target in re.findall(r"^\$ make ((?!build/)[a-z][\w-]*)", block, re.M):
                commands += 1
                absent += [] if target in targets else [(page.name, target)]
    assert commands > 10
    assert not absent


def test_the_first_program_prints_what_the_readme_says(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.M | re.S)
    exec(program[0], {})
    assert capsys.readouterr().out == program[1]
    assert len(text.splitlines()) <= 110, "a README is read on two screens"


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


def test_links_between_pages_lead_somewhere():
    generated = ("environment.md", "history.md", "operators/index.md", "api/index.md")
    for page in PAGES:
        text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(((?!http)[^)\s#]+)[^)]*\)", text):
            path = (page.parent / target).resolve()
            if "reference" in path.parts:
                assert target.rpartition("reference/")[2] in generated, f"{page}: {target}"
            else:
                assert path.exists(), f"{page}: {target}"
                inside = path.suffix != ".md" or DOCS in path.parents
                assert inside, f"{page}: {target} is no page of the site"


def test_every_page_is_in_a_list_of_pages():
    listed = {"index"}
    for page in PAGES:
        for block in re.findall(
            r"^```{toctree}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
        ):
            lines = [line for line in block.splitlines() if line and not line.startswith(":")]
            names = [line.rpartition("<")[2].rstrip(">") for line in lines]  # without titles
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
