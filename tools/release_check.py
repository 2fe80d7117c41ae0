"""Do the places agree that tell of a release? The first step of `make release-check`.

python tools/release_check.py              before the tag: all but the tag itself
python tools/release_check.py --tag v0.2.0 what is tagged is what is described
"""

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def problems(root, tag=None):
    """What does not fit, in lines.

    Parameters
    ----------
    root : Path
        The source tree.
    tag : str, optional
        The tag that the release has or will have.
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
    heading = re.search(rf"^## \[?{re.escape(version)}\]?(.*)$", changes, re.M)
    if heading is None:
        return [*wrong, f"CHANGELOG.md has no section ## [{version}]"]
    day = re.search(r"\d{4}-\d{2}-\d{2}", heading.group(1))
    if day is None:
        wrong.append(f"CHANGELOG.md: the section of {version} has no day: '{heading.group()}'")
    else:
        try:
            datetime.date.fromisoformat(day.group())
        except ValueError as error:
            wrong.append(f"CHANGELOG.md: {error}: {day.group()}")
    if not re.search(r"^\* ", changes[heading.end() :].partition("\n## ")[0], re.M):
        wrong.append(f"CHANGELOG.md: nothing is told of {version}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", help="the tag of the release, such as v0.2.0")
    wrong = problems(ROOT, parser.parse_args().tag)
    print(*wrong or ["== version, changes and citation agree"], sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
