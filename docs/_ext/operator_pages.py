"""The reference of operators, a page for each family, from the records of mxcy/ops."""

import contextlib
import io
import re
import warnings
from collections import defaultdict

import numpy as np

import mxcy as mx
from mxcy.ops.core import homes
from mxcy.ops.core.record import REGISTRY

_MOST = 24  # elements of a result that is shown
_HEAD = """\
# {title}

{count} operators, from the records in `mxcy/ops/{family}`. *Kernels* are listed best first; a call
that none of them accepts runs the reference definition, in NumPy. Examples were run when this page
was generated.

"""


_INDEX_HEAD = """\
{count} operators, each with its names, formula, attributes, kernels and an example. If you know a
name, use the search field at the top.
"""


def families():
    """The records of each family, by name."""
    known = defaultdict(list)
    for record in dict.fromkeys(REGISTRY.values()):
        module = getattr(record.ref, "__module__", "")
        if module.startswith("mxcy.ops.") and homes.public_names(record):
            known[module.split(".")[2]].append(record)
    return {family: sorted(known[family], key=title_of) for family in sorted(known)}


def title_of(record):
    """The shortest public name without its namespace."""
    return min(homes.public_names(record), key=len).rpartition(".")[2]


def pages():
    """{file name: text} of all families and their list."""
    made = {}
    count = sum(map(len, families().values()))
    lines = ["# Operators by family", "", _INDEX_HEAD.format(count=count)]
    lines += ["```{toctree}", ":titlesonly:", ""]
    for family, records in families().items():
        title = family.capitalize()
        made[f"{family}.md"] = _HEAD.format(
            title=title, family=family, count=len(records)
        ) + "\n".join(map(section, records))
        lines.append(family)
    made["index.md"] = "\n".join([*lines, "```", ""])
    return made


def section(record):
    """A record as a section of its family's page."""
    names = homes.public_names(record)
    lines = [f"## {title_of(record)}", "", ", ".join(f"`{name}`" for name in names), ""]
    lines += [_plain(record.doc), "", *_attributes(record), *_facts(record), "", *_example(record)]
    return "\n".join(lines) + "\n"


#: a line, and its indented description
_TERM = re.compile(r"^(\S.{0,58}[^\s.:;,])\n((?: {4}\S.*(?:\n|\Z))+)", re.M)


def _item(found):
    """A term and its meaning as an item of a list."""
    return f"* {found[1]}: {' '.join(found[2].split())}\n"


def _plain(doc):
    """A record's documentation as Markdown: reStructuredText's double quotes are single here."""
    text = re.sub(r"``([^`]+)``", r"`\1`", doc.partition("\nParameters\n---")[0].strip())
    text = re.sub(r"^(\w+)\n-{3,}$", r"**\1**\n", text, flags=re.M)  # and no headings
    text = _TERM.sub(_item, text)
    return re.sub(
        r"(?<!`)([<_\[\]|]|(?<!^)\*)(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", r"\\\1", text, flags=re.M
    )


def _attributes(record):
    if not record.schema.fields:
        return []
    lines = ["| attribute | type and default |", "|---|---|"]
    for field in record.schema.fields:
        text = field.text.replace("|", "\\|").replace(",optional", ", optional")
        text = re.sub(r"\{[^}]*\}|'[^']*'", r"`\g<0>`", text)  # as they are typed
        lines.append(f"| `{field.name}` | {text} |")
    return [*lines, ""]


def _facts(record):
    inputs = (
        f"any number ({record.variadic})"
        if record.variadic
        else ", ".join(
            f"`{name}`{'?' if name in record.optional else ''}" for name in record.inputs
        )
    )
    kernels = dict.fromkeys(f"`{k.name}`" for k in record.kernels if isinstance(k.name, str))
    kernels = [*kernels]
    if len(kernels) < len({k.name for k in record.kernels}):
        kernels.append("others, chosen by attributes and types")
    gradient = "has a gradient" if record.differentiable else "none"
    if record.differentiable and record.grad_rule.__name__ == "stop":
        gradient = "zero"
    return [
        f"* Inputs: {inputs or 'none'}",
        f"* Types: {', '.join(record.dtypes)}",
        f"* Gradient: {gradient}",
        f"* Kernels: {', '.join(kernels) or 'the definition'}",
    ]


# --- examples ------------------------------------------------------------------------------------


def _example(record):
    """A call of the first sample that is small, and what it printed."""
    names = homes.public_names(record)
    name = next((n for n in names if n.startswith("mx.nd.")), names[0])
    samples = record.samples() if callable(record.samples) else record.samples
    for sample in samples:
        with contextlib.suppress(Exception):  # a sample that cannot be written as such a call
            lines = _call(record, sample, name)
            if lines:
                return ["```python", *lines, "```", ""]
    return []


def _call(record, sample, name):
    random = np.random.default_rng(7)
    low, high = (max(bound, -9) if bound < 0 else min(bound, 9) for bound in record.domain)
    texts, setup = [], []
    wanted = [f"x{i}" for i in range(len(sample.inputs))]
    if not record.variadic:
        wanted = [*record.inputs][: len(sample.inputs)]
    if len(wanted) != len(sample.inputs):
        return []
    for variable, given in zip(wanted, sample.inputs, strict=True):
        text = _input(random, given, low, high, "nd" if name.startswith("mx.nd.") else "np")
        if not text or len(text) > 110:
            return []
        setup.append(f"{variable} = {text}")
        texts.append(variable)
    attrs = [f"{key}={value!r}" for key, value in sample.attrs.items()]
    call = f"{name}({', '.join(texts + attrs)})"
    scope = {"mx": mx}
    mx.random.seed(7)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec("\n".join(setup), scope)
        result = eval(call, scope)
        results = result if isinstance(result, list | tuple) else [result]
        shown = [_shown(array) for array in results]
    if not all(shown):
        return []
    comments = [f"# {line}" for text in shown for line in text.splitlines()]
    return [*setup, call, *comments]


def _input(random, given, low, high, module):
    """An input of a sample as an expression of `mx.nd` or `mx.np`; empty where none is short."""
    if isinstance(given, tuple):
        if np.prod(given) > 12:
            return f"mx.{module}.random.uniform({low}, {high}, {given})"
        given = random.uniform(low, high, given).astype("float32")
    array = np.asarray(given(random) if callable(given) else given)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        return ""
    dtype = "" if array.dtype == "float32" else f", dtype={array.dtype.name!r}"
    values = array.astype("float64").round(2) if array.dtype.kind == "f" else array
    return f"mx.{module}.array({values.tolist()}{dtype})"


def _shown(array):
    """Values, shape and type of a result, or without values if there are many."""
    if not isinstance(array, mx.nd.NDArray):
        return ""
    about = f"{array.shape} {np.dtype(array.dtype).name}"
    array.wait_to_read()
    if array.size > _MOST:
        return about
    with np.printoptions(precision=4, suppress=True, linewidth=100):
        return f"{array.asnumpy()} {about}"
