"""Human-readable forms of the table: text with current values, and the documentation page."""

from typing import Any

from mxcy.env.table import TOPICS, VARIABLES
from mxcy.env.variable import Variable

__all__ = ["listing", "page", "unproven"]

_WHEN = {"I": "at import", "F": "at first use", "C": "at each use"}

_HEAD = """\
# Environment variables

<!-- Made from the table in mxcy/env/table by `python -m mxcy.env --markdown`; do not edit. -->

Set them before the program starts: `MXNET_ENGINE_TYPE=NaiveEngine python train.py`.

Unset and empty both mean the default. An invalid value raises an error when it is read, naming the
variable and what is expected. Variables read *at import* or *at first use* keep their value for the
process; those read *at each use* follow `os.environ` and `mx.util.setenv`. Old names work, with one
warning. An unknown name beginning with `MXNET_` or `MXCY_`, and a value without effect on this
machine, give one warning, or an error with `MXNET_ENV_STRICT=1`.

* `python -m mxcy.env` prints every variable with its value, its default and its state;
  `mx.runtime.env.report()` returns the same as dicts.
* `python -m mxcy.env --check` lists problems of the environment, and fails if there are any.
"""


_TAIL = """\
## Names that are not variables

`USE_MKL2017`, `USE_MKL2017_EXPERIMENTAL`, `USE_MKLDNN`, `USE_ONEDNN`, `USE_PROFILER` and `USE_CUDA`
are build options of MXNet. mxcy loads oneDNN at run time if installed, and always includes its
profiler; `mx.runtime.Features()` shows the available features.
"""


def listing(report: list[dict[str, Any]]) -> str:
    """List the variables with their current values.

    Parameters
    ----------
    report : list of dict
        Result of `Environment.report`.
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
    """Generate the documentation page, which does not depend on the machine."""
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
    """The names of variables without a test or a reason for having no effect."""
    return [row.name for row in VARIABLES.values() if not row.test and not row.always_inert]


def _proof(row: Variable, mark: str = "") -> str:
    if row.always_inert:
        return f"No effect: {row.inert}."
    return f"Tested by {mark}tests/{row.test}{mark}." if row.test else "Not proven."


def _default(row: Variable) -> str:
    return "as described" if row.computed else _shown(row.default)


def _shown(value: object) -> str:
    """Format a value as users would write it."""
    if value is None or value == "":
        return "not set"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, frozenset | tuple):
        return ",".join(sorted(map(str, value))) or "not set"
    return str(value)
