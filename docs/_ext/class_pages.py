"""The reference of classes and functions: pages from docstrings and signatures."""

import importlib
import inspect
import re

#: title -> modules whose public names are on the page
PAGES = {
    "Arrays": ("ndarray", "ndarray.sparse", "numpy:ndarray"),
    "Symbols and executors": (
        "symbol:Symbol Group var Variable load load_json fromjson",
        "executor",
    ),
    "Gluon: blocks, parameters, trainers": ("gluon",),
    "Gluon: layers": ("gluon.nn",),
    "Gluon: recurrent layers": ("gluon.rnn",),
    "Gluon: losses": ("gluon.loss",),
    "Gluon: data": ("gluon.data", "gluon.data.vision"),
    "Gluon: image transforms": ("gluon.data.vision.transforms",),
    "Gluon: estimator": ("gluon.contrib.estimator",),
    "Gluon: distributions": ("gluon.probability",),
    "Module": ("module", "model", "monitor"),
    "Metrics": ("metric",),
    "Optimizers": ("optimizer",),
    "Learning rate schedules": ("lr_scheduler",),
    "Initializers": ("initializer",),
    "Callbacks": ("callback", "visualization"),
    "Iterators and records": ("io", "recordio"),
    "Images": ("image",),
    "Autograd": ("autograd",),
    "Key-value stores": ("kvstore",),
    "Mixed precision": ("amp",),
    "Quantization": ("contrib.quantization",),
    "ONNX": ("onnx",),
    "Custom operators": ("operator", "library"),
    "Engine, profiler, memory": ("engine", "profiler", "storage"),
    "Contexts and the machine": ("context", "runtime", "random", "util"),
}
_SECTIONS = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.M)


def pages():
    """{file name: text} of all pages and their index."""
    texts, listed = {}, []
    for title, modules in PAGES.items():
        name = re.sub(r"\W+", "_", title.lower())
        sections = [section(module, entry) for module in modules for entry in entries(module)]
        named = ", ".join(f"`mx.{module.partition(':')[0]}`" for module in modules)
        about = f"Public names of {named}, from their docstrings."
        texts[f"{name}.md"] = "\n".join([f"# {title}", "", about, "", *sections])
        listed.append(name)
    lines = ["# Classes and functions", "", "```{toctree}", ":titlesonly:", "", *listed, "```", ""]
    texts["index.md"] = "\n".join(lines)
    return texts


def entries(source):
    """(name, object) of a module's public classes and functions, or of the named ones."""
    module_name, _, only = source.partition(":")
    module = importlib.import_module(f"mxcy.{module_name}")
    names = only.split() or [n for n in getattr(module, "__all__", ()) if not n.startswith("_")]
    known = []
    for name in names:
        value = getattr(module, name)
        ours = getattr(value, "__module__", "") or ""
        operator = ours.startswith("mxcy.ndarray") and not inspect.isclass(value)
        if operator and not inspect.isfunction(value):
            continue  # the pages of operators have them
        if inspect.isclass(value) or (callable(value) and ours.startswith("mxcy")):
            known.append((name, value))
    classes = [pair for pair in known if inspect.isclass(pair[1])]
    return classes + [pair for pair in known if not inspect.isclass(pair[1])]


def section(source, entry):
    """A class or function as a section of a page."""
    (name, value), module = entry, source.partition(":")[0]
    lines = [f"## {name}", "", "```python", f"mx.{module}.{name}{_signature(value)}", "```", ""]
    if inspect.isclass(value):
        bases = [base.__name__ for base in value.__bases__ if base is not object]
        if bases:
            lines += [f"Derived from {', '.join(f'`{base}`' for base in bases)}.", ""]
    lines += [markdown(inspect.getdoc(value) or ""), ""]
    if inspect.isclass(value):
        lines += _methods(value)
    return "\n".join(lines)


def _signature(value):
    try:
        text = str(inspect.signature(value))
    except (ValueError, TypeError):  # a class in C
        return "(...)"
    text = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", text)
    return re.sub(r"<(\w+ )?([^<>]*?)( at 0x[0-9a-f]+)?>", r"\2", text)


def _methods(cls):
    """The methods and properties that a class adds to its bases, one line each."""
    lines = []
    for name, member in sorted(vars(cls).items()):
        if name.startswith("_"):
            continue
        value = getattr(cls, name, None)
        summary = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
        if isinstance(member, property) or inspect.isdatadescriptor(member):
            lines.append(f"* `{name}`: {plain(summary) or 'a property'}")
        elif callable(value):
            signature = _signature(value).replace("(self, ", "(").replace("(self)", "()")
            lines.append(f"* `{name}{signature}`: {plain(summary) or 'see its base'}")
    return ["**Methods and properties**", "", *lines, ""] if lines else []


# --- docstrings ----------------------------------------------------------------------------------


def plain(text):
    """A line or paragraph of a docstring as Markdown."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    if text.count("`") % 2:
        text = text.replace("`", "'")
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([<>*_\[\]|{}#$\\])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def markdown(doc):
    """A numpydoc docstring as Markdown."""
    head, *rest = _SECTIONS.split(doc)
    lines = _paragraphs(head)
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        lines += ["", f"**{title}**", ""]
        listed = title in (
            "Parameters",
            "Other Parameters",
            "Attributes",
            "Returns",
            "Raises",
            "Yields",
        )
        lines += _terms(body) if listed else _paragraphs(body)
    return "\n".join(lines)


def _terms(body):
    """Entries ``name : type`` and their indented descriptions, as a list."""
    lines = []
    for line in body.strip("\n").splitlines():
        if line and not line[0].isspace():
            name, separator, kind = line.partition(" : ")
            kind = kind.replace("`", "'")
            lines.append(f"* `{name.replace('`', '')}`" + (f" : `{kind}`" if separator else ""))
        elif line.strip():
            lines.append(f"  {plain(line.strip())}")
    return lines


def _paragraphs(text):
    """Text with examples and indented blocks as code blocks."""
    lines, block = [], []
    for line in [*text.strip("\n").splitlines(), ""]:
        code = line.startswith((">>>", "...", "    ")) or (block and line and block[0][:3] == ">>>")
        if code:
            block.append(line)
            continue
        if block:
            lines += ["", "```python", *inspect.cleandoc("\n".join(block)).splitlines(), "```", ""]
            block = []
        bullet = re.match(r"[*-] ", line)
        lines.append(
            f"* {plain(line[2:])}" if bullet else plain(line.rstrip(":") + ":" * line.endswith(":"))
        )
    return lines
