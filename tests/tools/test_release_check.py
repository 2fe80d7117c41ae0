"""The release check: files agree about the release, or the differing ones are listed."""

import datetime
import importlib.util
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "tools/release_check.py").is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

spec = importlib.util.spec_from_file_location("release_check", ROOT / "tools/release_check.py")
release_check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release_check)
figures = release_check.figures
drawings = importlib.import_module("tools.figure_drawings")
steps = importlib.import_module("tools.release_steps")


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
        ({"changes": "## [1.2.3] - 2999-01-01\n\n* It works.\n"}, "has not come yet"),
        ({"changes": "## [1.2.3] - 2025-01-01\n\n* It works.\n"}, "older than the one before"),
        ({"changes": "## [1.2.3] - 2026-11-23\n\n### Done\n\n* It.\n"}, "'### Done' is none of"),
        (
            {
                "version": "1.2.1",
                "cited": "1.2.1",
                "changes": "## [1.2.1] - 2026-11-23\n\n* It works.\n",
            },
            "newest first",
        ),
    ],
)
def test_places_that_disagree(tmp_path, told, problem):
    (text,) = release_check.problems(tree(tmp_path, **told))[:1]
    assert re.search(problem, text)


def test_a_tag_of_another_version(tmp_path):
    assert "v1.3.0" in release_check.problems(tree(tmp_path), "v1.3.0")[0]


def test_before_the_first_release_nothing_has_a_section_yet(tmp_path):
    changes = "## [Unreleased]\n\n### Added\n\n* It works.\n"
    assert release_check.problems(tree(tmp_path, changes=changes)) == []
    assert "no section ## [1.2.3]" in release_check.problems(tmp_path, "v1.2.3")[0]


def test_unprepared_items_are_reported_but_not_errors(tmp_path):
    tree(tmp_path, changes="## [Unreleased]\n\n### Added\n\n* It works.\n")
    unreleased = release_check.missing(tmp_path)
    assert len(unreleased) == 2 and "--prepare VERSION" in unreleased[0]
    release_check.prepare(tmp_path, "1.3.0", datetime.date(2026, 11, 23))
    (text,) = release_check.missing(tmp_path)
    assert "tools/figures.py measure" in text
    history = tmp_path / "benchmarks" / "history"
    history.mkdir(parents=True)
    (history / "a.json").write_text(json.dumps({"day": "2026-11-23", "release": "1.3.0"}))
    assert release_check.missing(tmp_path) == []


def test_this_tree_can_be_released():
    assert release_check.problems(ROOT) == []


def test_this_tree_cites_its_version():
    assert not [text for text in release_check.problems(ROOT) if "CITATION" in text]


def test_a_release_is_prepared(tmp_path):
    tree(tmp_path, changes="## [Unreleased]\n\n### Added\n\n* It works better.\n")
    (tmp_path / "CHANGELOG.md").write_text(
        (tmp_path / "CHANGELOG.md").read_text() + "\n## [1.2.1] - 2025-01-01\n\n* Older.\n"
    )
    release_check.prepare(tmp_path, "1.3.0", datetime.date(2026, 2, 3))
    assert release_check.problems(tmp_path, "v1.3.0") == []
    changes = (tmp_path / "CHANGELOG.md").read_text()
    assert changes.index("## [Unreleased]") < changes.index("## [1.3.0] - 2026-02-03")
    assert "date-released: 2026-02-03" in (tmp_path / "CITATION.cff").read_text()
    with pytest.raises(SystemExit, match="nothing stands under"):
        release_check.prepare(tmp_path, "1.4.0", datetime.date(2026, 2, 4))
    with pytest.raises(SystemExit, match="no version of three numbers after 1.3.0"):
        release_check.prepare(tmp_path, "1.3.0", datetime.date(2026, 2, 4))


def test_this_trees_changelog_has_the_form():
    assert release_check.unordered((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) == []


def kept(folder, release, numpy=1.0, day=None, **runs):
    """A release's file, whose figures have these runs beside a yardstick."""
    entries = {
        name: {"seconds": min(several), "others": {"numpy": numpy}, "runs": list(several)}
        for name, several in runs.items()
    }
    about = {"release": release, "machine": "one", "day": day or f"2026-01-0{release[0]}"}
    (folder / f"{release}-{about['day']}.json").write_text(json.dumps(about | {"figures": entries}))


def test_slower_figures_are_reported(tmp_path):
    assert figures.slower(tmp_path) == [] and "none was compared" in figures.told(tmp_path)
    kept(
        tmp_path,
        "1.0.0",
        lenet=(1.0, 1.0, 1.01, 1.02, 1.1),
        gru=(2.0, 2.0, 2.0, 2.1, 2.1),
        old=(1.0,) * 5,
    )
    assert figures.slower(tmp_path) == [] and "none was compared" in figures.told(tmp_path)
    kept(
        tmp_path,
        "2.0.0",
        lenet=(1.04, 1.05, 1.9, 1.1, 1.1),
        gru=(2.2, 2.3, 2.3, 2.3, 2.3),
        new=(9.0,) * 5,
    )
    (line,) = figures.slower(tmp_path)
    assert "gru" in line and "1.10" in line and "1.0.0" in line
    assert figures.told(tmp_path) == "2 key figures of 2.0.0 were compared with 1.0.0"
    kept(tmp_path, "2.0.0", day="2026-02-02", lenet=(1.0,) * 5, gru=(2.3, 2.3, 2.4, 2.3, 2.3))
    (line,) = figures.slower(tmp_path)  # with the release before, not with the day before
    assert "gru" in line and "1.0.0" in line


@pytest.mark.parametrize(
    ("before", "now", "numpy"),
    [
        ((1.0,) * 5, (1.3, 1.01, 1.4, 1.3, 1.3), 1.0),  # all runs but one were disturbed
        ((1.0,), (1.3,), 1.0),  # too few to judge
        ((1.0,) * 5, (1.3,) * 4, 1.0),
        ((1.0,) * 5, (1.3,) * 5, 1.27),  # the machine was slower
        ((1.0, 1.2, 1.2, 1.2, 1.3), (1.25, 1.24, 1.3, 1.3, 1.3), 1.0),  # one lucky run before
    ],
)
def test_noise_is_no_slowness(tmp_path, before, now, numpy):
    kept(tmp_path, "1.0.0", lenet=before)
    kept(tmp_path, "2.0.0", numpy, lenet=now)
    assert figures.slower(tmp_path) == []


def test_faster_machine_hides_no_slowdown(tmp_path):
    kept(tmp_path, "1.0.0", lenet=(1.0,) * 5, gru=(1.0,) * 5)
    kept(tmp_path, "2.0.0", 0.5, lenet=(1.02,) * 5, gru=(1.1,) * 5)
    (line,) = figures.slower(tmp_path)
    assert "gru" in line


def test_measuring_again_adds_runs(tmp_path):
    path = figures.keep({}, "key", tmp_path, "1.0.0", "one", day=datetime.date(2026, 1, 2))
    several = [{"exp": {"mxcy": 3.0, "numpy": 2.0}}, {"exp": {"mxcy": 2.0, "numpy": 4.0}}]
    figures.add_runs(path, several, "key")
    figures.add_runs(path, [{"exp": {"mxcy": 2.5, "numpy": 1.0}}], "key")
    (run,) = figures.runs(tmp_path)
    expected = {"seconds": 2.0, "others": {"numpy": 1.0}, "runs": [3.0, 2.0, 2.5]}
    assert run["figures"] == {"key, exp": expected}


def test_rows_become_figures():
    rows = {"lenet b64, 2 threads": {"mxcy Gluon": 0.01, "mxcy Module": 0.03, "PyTorch": 0.04}}
    figure = figures.from_rows(rows, "training")["training, lenet b64, 2 threads"]
    assert figure == {"seconds": 0.01, "others": {"PyTorch": 0.04}}
    assert figures.from_rows({"a + b": {"numpy": 1e-6}}, "calls") == {}


def test_recorded_runs_become_a_release(tmp_path):
    own = figures.History(tmp_path / "own", figures.KINDS["calls"])
    own.keep({"a + b": {"mxcy": 2e-7, "numpy": 4e-7}})
    own.keep({"a + b": {"mxcy": 1e-7, "numpy": 4e-7}})
    day = datetime.date(2026, 1, 2)
    for release in ("1.0.0", "2.0.0"):
        figures.keep(own.last(), "calls", tmp_path, release, figures.machine(), day=day)
        own.keep({"a + b": {"mxcy": 3e-7, "numpy": 4e-7}})
    first, second = figures.runs(tmp_path)
    assert first["figures"] == {"calls, a + b": {"seconds": 1e-7, "others": {"numpy": 4e-7}}}
    assert second["figures"]["calls, a + b"]["seconds"] == 3e-7
    assert figures.slower(tmp_path) == []  # one run of each tells nothing


def test_a_table_that_was_written_becomes_a_release(tmp_path):
    contenders = {"mxcy Gluon": {"seconds": [0.03, 0.02]}, "PyTorch": {"seconds": [0.05, 0.06]}}
    cell = {"network": "lenet", "batch_size": 64, "contenders": contenders}
    (tmp_path / "table.json").write_text(json.dumps({"threads": 2, "cells": [cell]}))
    rows = figures.rows_of_table(tmp_path / "table.json")
    assert rows == {"lenet b64, 2 threads": {"mxcy Gluon": 0.02, "PyTorch": 0.05}}


def test_each_kind_of_figures_keeps_its_load(tmp_path):
    day = datetime.date(2026, 1, 2)
    for kind, load in (("calls", 3.5), ("training", 0.5)):
        figures.keep({"a": {"mxcy": 1.0}}, kind, tmp_path, "1.0.0", "one", load, day)
    (run,) = figures.runs(tmp_path)
    assert run["loads"] == {"calls": 3.5, "training": 0.5}


def test_kept_figures_can_be_drawn():
    for run in figures.runs(ROOT / "benchmarks" / "history"):
        assert run["figures"]
        drawing = drawings.bars(run)
        assert drawing.startswith("<svg") and "PyTorch" in drawing


def test_calibration_runs_are_not_plotted():
    beside = {"seconds": 1.0, "others": {drawings.YARDSTICK: 2.0}}
    others = {"seconds": 1.0, "others": {"PyTorch": 3.0}}
    assert drawings.bars({"figures": {"a + b": beside}}) == ""
    drawing = drawings.bars({"figures": {"a + b": beside, "lenet": others}})
    assert "lenet" in drawing and "a + b" not in drawing


def test_bars_have_lengths_by_time_and_an_end():
    times = {"MXNet": 2.0, "PyTorch": 40.0}
    drawing = drawings.bars({"figures": {"lenet": {"seconds": 1.0, "others": times}}})
    ours, twice, long = map(float, re.findall(r'<rect x="140" [^>]*?width="([\d.]+)"', drawing))
    assert twice == pytest.approx(2 * ours, abs=0.2) and 2 * twice == pytest.approx(long, abs=0.4)
    assert "40.00 x" in drawing


def test_key_figures_of_releases_stand_on_one_scale():
    def run(release, **seconds):
        entries = {
            f"key, {name}": {"seconds": t, "others": {drawings.YARDSTICK: 3e-4}}
            for name, t in seconds.items()
        }
        return {"release": release, "figures": {**entries, "lenet": {"seconds": 1.0, "others": {}}}}

    drawing = drawings.scale([run("1.0.0", exp=1e-3), run("2.0.0", exp=1e-4, add=1e-5)])
    dots = re.findall(r'<circle cx="([\d.]+)" cy="(\d+)" ', drawing)
    places = [float(x) for x, y in dots if int(y) > 40]  # below the names of the releases
    ticks = {text: float(x) for x, text in re.findall(r'<text x="([\d.]+)"[^>]*>(1 .s)<', drawing)}
    assert len(places) == 3  # two of exp, one of add
    assert "lenet" not in drawing and drawing.count("2.0.0: 0.1 ms") == 1
    assert max(places) == ticks["1 ms"] and min(places) < max(places)
    assert drawings.scale([{"release": "1.0.0", "figures": {}}]) == ""


@pytest.fixture
def stepped(tmp_path):
    """A repository whose Makefile has steps, each of which notes that it ran; one fails."""
    recipe = "\t@echo $@ >> $(CURDIR)/../ran; [ $@ != docs ] || [ -e ../mended ]\n"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "Makefile").write_text(f"lint docs fuzz:\n{recipe}")
    (tmp_path / "tree" / ".gitignore").write_text("/build/\n")
    _git(tmp_path / "tree", "init", "-q")
    _git(tmp_path / "tree", "add", ".")
    _commit(tmp_path / "tree")
    return tmp_path


def _git(tree, *command):
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in WHAT}
    subprocess.run(["git", "-C", tree, *command], check=True, env={**os.environ, **names})


def _commit(tree):
    _git(tree, "commit", "-q", "--allow-empty", "-m", "A state of the tree")


WHAT = ("NAME", "EMAIL")


def _ran(stepped, **options):
    ran = stepped / "ran"
    ran.unlink(missing_ok=True)
    lines, failed = steps.run(["lint", "docs", "fuzz"], "make", stepped / "tree", **options)
    assert len(lines) == 3
    return ran.read_text().split() if ran.exists() else [], failed


def test_failed_step_stops_no_other_and_passed_ones_are_skipped(stepped):
    assert _ran(stepped) == (["lint", "docs", "fuzz"], 1)
    assert _ran(stepped) == (["docs"], 1)
    (stepped / "mended").touch()
    assert _ran(stepped) == (["docs"], 0)
    assert _ran(stepped) == ([], 0)
    assert _ran(stepped, again=True) == (["lint", "docs", "fuzz"], 0)


def test_steps_are_repeated_when_the_tree_changed(stepped):
    (stepped / "mended").touch()
    assert _ran(stepped) == (["lint", "docs", "fuzz"], 0)
    (stepped / "tree" / "new.py").touch()
    assert _ran(stepped) == (["lint", "docs", "fuzz"], 0)
    assert _ran(stepped) == (["lint", "docs", "fuzz"], 0)  # nor is that remembered
    (stepped / "tree" / "new.py").unlink()
    assert _ran(stepped) == ([], 0)
    _commit(stepped / "tree")
    assert _ran(stepped) == (["lint", "docs", "fuzz"], 0)
