"""Check that all files agree about the release; the first step of `make release-check`.

python tools/release_check.py              before tagging; lists what --prepare has to write
python tools/release_check.py --tag v0.2.0 what is tagged is what is described
python tools/release_check.py --prepare 0.2.0   writes version and day into the places
"""

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools import figures  # noqa: E402

KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def problems(root, tag=None):
    """Return inconsistencies, as lines.

    Parameters
    ----------
    root : Path
        The source tree.
    tag : str, optional
        Tag of the release.
    """
    source = (root / "mxcy" / "libinfo.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', source, re.M).group(1)
    wrong = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        wrong.append(f"mxcy/libinfo.py: {version} is no version of three numbers")
    if tag is not None and tag != f"v{version}":
        wrong.append(f"the tag {tag} does not fit mxcy/libinfo.py, which says {version}")
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    if cited is None or cited.group(1).strip('"') != version:
        wrong.append(f"CITATION.cff: version should be {version}")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    wrong += unordered(changes)
    heading = re.search(rf"^## \[?{re.escape(version)}\]?(.*)$", changes, re.M)
    if heading is None and tag is None and _unreleased(changes):
        return wrong  # not tagged yet, with unreleased changes
    if heading is None:
        mend = "python tools/release_check.py --prepare VERSION writes it"
        return [*wrong, f"CHANGELOG.md has no section ## [{version}]: {mend}"]
    day = re.search(r"\d{4}-\d{2}-\d{2}", heading.group(1))
    if day is None:
        wrong.append(f"CHANGELOG.md: the section of {version} has no day: '{heading.group()}'")
    else:
        try:
            if datetime.date.fromisoformat(day.group()) > today():
                wrong.append(f"CHANGELOG.md: {day.group()} has not come yet")
        except ValueError as error:
            wrong.append(f"CHANGELOG.md: {error}: {day.group()}")
    if not re.search(r"^\* ", changes[heading.end() :].partition("\n## ")[0], re.M):
        wrong.append(f"CHANGELOG.md: nothing is told of {version}")
    return wrong


def missing(root):
    """Return what the release preparation still has to write, as lines; these are not errors.

    Parameters
    ----------
    root : Path
        The source tree.
    """
    source = (root / "mxcy" / "libinfo.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', source, re.M).group(1)
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    lines = []
    if _unreleased(changes):
        lines.append(
            f"CHANGELOG.md tells of unreleased changes: python tools/release_check.py --prepare "
            f"VERSION writes the section, mxcy/libinfo.py and CITATION.cff (now {version})"
        )
    kept = {run["release"] for run in figures.runs(root / "benchmarks" / "history")}
    if _unreleased(changes) or version not in kept:
        lines.append("benchmarks/history takes the key figures: python tools/figures.py measure")
    return lines


def today():
    """Return the current UTC date."""
    return datetime.datetime.now(datetime.UTC).date()


def unordered(changes):
    """Return violations of the Keep a Changelog format, as lines.

    Parameters
    ----------
    changes : str
        Text of the changelog.
    """
    wrong, sections = [], re.findall(r"^## \[?([^\]\s]+)\]?(?: - (\S+))?", changes, re.M)
    numbers = [tuple(map(int, v.split("."))) for v, _ in sections if re.fullmatch(r"[\d.]+", v)]
    if numbers != sorted(set(numbers), reverse=True):
        wrong.append("CHANGELOG.md: versions should come newest first, each once")
    days = [day for _, day in sections if day]
    if days != sorted(days, reverse=True):
        wrong.append("CHANGELOG.md: a version is older than the one before it")
    for kind in re.findall(r"^### (.*)$", changes, re.M):
        if kind not in KINDS:
            wrong.append(f"CHANGELOG.md: '### {kind}' is none of {', '.join(KINDS)}")
    return wrong


def prepare(root, version, day):
    """Write a release's version and date, and turn the unreleased changes into its section.

    Parameters
    ----------
    root : Path
        The source tree.
    version : str
    day : date

    Raises
    ------
    SystemExit
        If the version is not newer, or there are no unreleased changes.
    """
    paths = [root / "mxcy" / "libinfo.py", root / "CITATION.cff", root / "CHANGELOG.md"]
    source, cited, changes = (path.read_text(encoding="utf-8") for path in paths)
    current = re.search(r'^__version__ = "(.+)"$', source, re.M).group(1)
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or _number(version) <= _number(current):
        raise SystemExit(f"{version} is no version of three numbers after {current}")
    head, separator, tail = changes.partition("## [Unreleased]\n")
    if not _unreleased(changes):
        raise SystemExit("CHANGELOG.md: nothing stands under ## [Unreleased]")
    source = source.replace(f'__version__ = "{current}"', f'__version__ = "{version}"')
    cited = re.sub(r"^version: .*$", f"version: {version}", cited, flags=re.M)
    cited = re.sub(r"^date-released: .*\n", "", cited, flags=re.M)
    cited = re.sub(r"^(version: .*)$", rf"\1\ndate-released: {day}", cited, flags=re.M)
    changes = f"{head}{separator}\n## [{version}] - {day}\n{tail}"
    for path, text in zip(paths, (source, cited, changes), strict=True):
        path.write_text(text, encoding="utf-8")


def _unreleased(changes):
    """Whether the section ``## [Unreleased]`` has entries."""
    section = changes.partition("## [Unreleased]\n")[2].partition("\n## ")[0]
    return re.search(r"^\* ", section, re.M) is not None


def _number(version):
    return tuple(map(int, version.split(".")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", help="the tag of the release, such as v0.2.0")
    parser.add_argument("--prepare", metavar="VERSION", help="write this version and today's date")
    asked = parser.parse_args()
    if asked.prepare:
        prepare(ROOT, asked.prepare, today())
    wrong = problems(ROOT, asked.tag) + figures.slower(ROOT / "benchmarks" / "history")
    print(*wrong or ["== version, changes and citation agree, no key figure is slower"], sep="\n")
    print("  ", figures.told(ROOT / "benchmarks" / "history"))
    for line in [] if asked.tag else missing(ROOT):
        print(f"   a release still needs: {line}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
