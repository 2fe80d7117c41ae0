"""The places that tell of a release agree, or it is said which do not."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "tools/release_check.py").is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

spec = importlib.util.spec_from_file_location("release_check", ROOT / "tools/release_check.py")
release_check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release_check)


def tree(root, version="1.2.3", cited="1.2.3", changes="## [1.2.3] - 2026-11-23\n\n* It works.\n"):
    (root / "mxcy").mkdir()
    (root / "mxcy/libinfo.py").write_text(f'__version__ = "{version}"\n')
    (root / "CITATION.cff").write_text(f"title: it\nversion: {cited}\n")
    (root / "CHANGELOG.md").write_text(
        f"# Changelog\n\n{changes}\n## [1.2.2] - 2026-01-01\n\n* Old.\n"
    )
    return root


def test_places_that_agree(tmp_path):
    assert release_check.problems(tree(tmp_path)) == []
    assert release_check.problems(tmp_path, "v1.2.3") == []


@pytest.mark.parametrize(
    "told, problem",
    [
        ({"version": "1.2"}, "no version of three numbers"),
        ({"cited": "1.2.2"}, "CITATION.cff"),
        ({"version": "1.2.4", "cited": "1.2.4"}, r"no section ## \[1.2.4\]"),
        ({"changes": "## 1.2.3 (unreleased)\n\n* It works.\n"}, "has no day"),
        ({"changes": "## [1.2.3] - 2026-13-01\n\n* It works.\n"}, "month"),
        ({"changes": "## [1.2.3] - 2026-11-23\n"}, "nothing is told"),
    ],
)
def test_places_that_disagree(tmp_path, told, problem):
    (text,) = release_check.problems(tree(tmp_path, **told))[:1]
    assert re.search(problem, text)


def test_a_tag_of_another_version(tmp_path):
    assert "v1.3.0" in release_check.problems(tree(tmp_path), "v1.3.0")[0]


def test_this_tree_cites_its_version():
    assert not [text for text in release_check.problems(ROOT) if "CITATION" in text]
