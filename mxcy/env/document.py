"""The table for people: as text with the values in force, and as a page of the documentation."""

from typing import Any

from mxcy.env.table import TOPICS, VARIABLES
from mxcy.env.variable import Variable

__all__ = ["listing", "page", "unproven"]

_WHEN = {"I": "at import", "F": "at first use", "C": "at each use"}

_HEAD = """\
# Environment variables

<!-- Made from the table in mxcy/env/table by `python -m mxcy.env --markdown`; do not edit. -->

They are set before the program starts: `MXNET_ENGINE_TYPE=NaiveEngine python train.py`.

Unset and empty both mean the default. A value that is not accepted raises an error when it is read,
which names the variable and what it accepts. What is read *at import* or *at first use* keeps its
value for the process; what is read *at each use* follows `os.environ` and `mx.util.setenv`. Old
names work, with one warning. A name beginning with `MXNET_` or `MXCY_` that is not here, and a
value that can do nothing on this machine, give one warning; with `MXNET_ENV_STRICT=1` an error.

* `python -m mxcy.env` prints every variable with its value, its default and its state;
  `mx.runtime.env.report()` returns the same as dicts.
* `python -m mxcy.env --check` lists what is wrong with the environment, and fails if anything is.
"""


_TAIL = """\
## Names that are no variables

`USE_MKL2017`, `USE_MKL2017_EXPERIMENTAL`, `USE_MKLDNN`, `USE_ONEDNN`, `USE_PROFILER` and `USE_CUDA`
switched parts of MXNet's build on. mxcy opens oneDNN at run time where it is installed, and its
profiler is always built; `mx.runtime.Features()` tells what there is.
"""


def listing(report: list[dict[str, Any]]) -> str:
    """The variables with the values in force.

    Parameters
    ----------
    report : list of dict
        What `Environment.report` returned.
    """
    entries = {entry["name"]: entry for entry in report}
    lines = []
    for title, rows in TOPICS.items():
        lines += ["", title, "-" * len(title)] if rows else []
        for row in rows:
            entry = entries[row.name]
            lines.append(f"{row.name} = {_shown(entry['value'])}  ({entry['status']})")
            if entry["why"]:
                lines.append(f"    {entry['why']}")
            lines.append(f"    {row.doc} Accepts {row.kind.accepts}; default {_default(row)}.")
            lines.append(f"    Read {_WHEN[row.when]} by {row.reader}. {_proof(row)}")
    return "\n".join(lines[1:])


def page() -> str:
    """The page of the documentation, the same on every machine."""
    parts = [_HEAD]
    for title, rows in TOPICS.items():
        if rows:
            parts.append(f"## {title}\n")
        for row in rows:
            parts.append(f"### {row.name}\n\n{row.doc}\n")
            facts = [f"accepts {row.kind.accepts}", f"default {_default(row)}"]
            facts += [f"read {_WHEN[row.when]} by `{row.reader}`"]
            if row.aliases:
                facts.append("older names " + ", ".join(f"`{name}`" for name in row.aliases))
            if row.under:
                facts.append(
                    "without effect when "
                    + " or ".join(f"`{name}`" for name in row.under)
                    + " is set"
                )
            text = "; ".join(facts)
            parts.append(f"*{text[0].upper()}{text[1:]}. {_proof(row, '`')}*\n")
    parts.append(_TAIL)
    return "\n".join(parts)


def unproven() -> list[str]:
    """The names of variables that have neither a test nor a reason to do nothing."""
    return [row.name for row in VARIABLES.values() if not row.test and not row.always_inert]


def _proof(row: Variable, mark: str = "") -> str:
    if row.always_inert:
        return f"Does nothing: {row.inert}."
    return f"Proven by {mark}tests/{row.test}{mark}." if row.test else "Not proven."


def _default(row: Variable) -> str:
    return "as said" if row.computed else _shown(row.default)


def _shown(value: object) -> str:
    """A value as users would write it."""
    if value is None or value == "":
        return "not set"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, frozenset | tuple):
        return ",".join(sorted(map(str, value))) or "not set"
    return str(value)
