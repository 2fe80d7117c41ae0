"""Stubs of operator functions, handwritten functions, and methods."""

import ast
import inspect
import math
import re
import textwrap
from typing import TypeVar

from mxcy.base import _Null
from mxcy.ops.core import homes
from mxcy.ops.core.attrs import REQUIRED

__all__ = ["WIDTH", "method", "operator", "summary", "written"]

WIDTH = 100
#: slots of the fronts' classes
SLOTS = {"context": "Context", "shape": "tuple[int, ...]"}
#: annotations of attributes, by the first words of their type in operator listings
ATTRIBUTES = {
    "int": "int",
    "long": "int",
    "float": "float",
    "double": "float",
    "boolean": "bool",
    "string": "str",
    "Shape": "_Shape",
    "tuple of <long>": "_Shape",
    "tuple of <float>": "_Floats",
    "tuple of <double>": "_Floats",
}
#: annotations of types named in docstrings
DOCUMENTED = {
    **{name: name for name in ("Context", "NDArray", "Symbol", "bool", "float", "int", "str")},
    "numpy.ndarray": "np.ndarray[Any, Any]",
    "type": "type",
}
BINARY = "add sub mul truediv mod pow matmul eq ne lt le gt ge and or xor floordiv".split()
#: special methods of arrays and symbols -> parameters and result type
SPECIAL = {
    **{f"__{name}__": ("other: Any", "") for name in BINARY},
    **{f"__{place}{name}__": ("other: Any", "") for name in BINARY for place in "ri"},
    **{f"__{name}__": ("", "") for name in ("neg", "abs", "pos")},
    **{f"__{name}__": ("", name) for name in ("bool", "int", "float")},
    "__len__": ("", "int"),
    "__index__": ("", "int"),
    "__getitem__": ("key: Any", ""),
    "__setitem__": ("key: Any, value: Any", "None"),
    "__iter__": ("", "Iterator[{}]"),
    "__call__": ("*args: Any, **kwargs: Any", ""),
    "__array__": ("*args: Any, **kwargs: Any", "np.ndarray[Any, Any]"),
}


def summary(doc):
    """The first line of a docstring."""
    line = inspect.cleandoc(doc or "").split("\n\n")[0].replace("\n", " ").replace("\\", "\\\\")
    return textwrap.shorten(line, WIDTH - 14, placeholder=" ...")


def definition(name, parameters, result, doc, indent=""):
    """Format a function of a stub, wrapped to the line length."""
    end = f" -> {result}:" if result else ":"
    line = f"{indent}def {name}({', '.join(parameters)}){end}"
    if len(line) > WIDTH:
        inner = f"{indent}    "
        wrapped = textwrap.fill(
            ", ".join(parameter.replace(" ", "\0") for parameter in parameters) + ",",
            WIDTH,
            initial_indent=inner,
            subsequent_indent=inner,
            break_long_words=False,
            break_on_hyphens=False,
        )
        line = f"{indent}def {name}(\n{wrapped}\n{indent}){end}".replace("\0", " ")
    doc = summary(doc)
    return f'{line}\n{indent}    """{doc}"""\n' if doc else f"{line} ...\n"


# --- operators ---
def attribute_type(field):
    """Return the annotation of an attribute."""
    kind = field.type.kind
    if field.name == "ctx":
        return "Context | str | None"
    if kind.startswith("{"):
        words = ast.literal_eval(f"({kind[1:-1]},)")
        if field.name == "dtype":
            return "_DType"
        return f"Literal[{', '.join(map(repr, words))}]".replace("'", '"')
    optional = " | None" if kind.endswith("or None") else ""
    (plain,) = {t for start, t in ATTRIBUTES.items() if re.match(rf"{start}\b|{start}$", kind)}
    return plain + optional


def default_text(value):
    """Return a default as source text; `...` if there is none or it has no literal form."""
    if (
        value is REQUIRED
        or value is _Null
        or (isinstance(value, float) and not math.isfinite(value))
    ):
        return "..."
    plain = isinstance(value, (bool, int, float, str, type(None), tuple))
    return repr(value).replace("'", '"') if plain else "..."


def operator_inputs(record, kind):
    """Return the parameters of a record's inputs, which are optional for symbols."""
    if record.variadic:
        return [f"*{record.variadic}: {kind}"]
    parameters, required = [], kind == "NDArray"
    for position, name in enumerate(record.inputs):
        always = position == 0 or record._arguments is None
        required = required and always and name not in record.optional
        parameters.append(f"{name}: {kind}" if required else f"{name}: {kind} | None = None")
    return parameters


def operator_result(record, kind):
    """Return the result type of a record's function."""
    if kind == "Symbol":
        return kind
    if callable(record._outputs) or callable(record._visible):
        return "Any"
    count = len(record._outputs) if record._visible is None else record._visible
    return kind if count == 1 else f"list[{kind}]"


def operator(name, record, kind):
    """Return the stub of an operator's function under one of its names."""
    parameters = operator_inputs(record, kind)
    for field in record.schema.fields:
        annotation, default = attribute_type(field), default_text(field.default)
        if default == "None" and "None" not in annotation and annotation != "_DType":
            annotation += " | None"
        parameters.append(f"{field.name}: {annotation} = {default}")
    if kind == "NDArray":
        parameters += ["out: _Out = None", "name: str | None = None"]
    else:
        parameters += ["name: str | None = None", "attr: dict[str, str] | None = None"]
    return definition(name, parameters, operator_result(record, kind), record.doc)


# --- handwritten functions ---
def documented_type(text):
    """Return the annotation of a type named in a docstring, or nothing."""
    text = text.removesuffix(" or number").removesuffix(
        ", or a number when both operands are numbers"
    )
    many = re.fullmatch(r"(list|tuple) of (\S+?)s?", text)
    if many and many[2] in DOCUMENTED:
        end = ", ..." if many[1] == "tuple" else ""
        return f"{many[1]}[{DOCUMENTED[many[2]]}{end}]"
    if text.endswith(" or None") and documented_type(text[:-8]):
        return f"{documented_type(text[:-8])} | None"
    return DOCUMENTED.get(text, "")


def result_type(value):
    """Return a function's result type, from its annotation or docstring."""
    annotation = inspect.signature(value).return_annotation
    if annotation is not inspect.Signature.empty and not isinstance(annotation, TypeVar):
        return "None" if annotation is None else getattr(annotation, "__name__", str(annotation))
    section = re.search(r"^Returns\n-+\n(.*)", inspect.cleandoc(value.__doc__ or ""), re.M)
    return documented_type(section[1]) if section else ""


def written(name, value, indent=""):
    """Return the stub of a handwritten function."""
    parameters, seen_star = [], False
    for parameter in inspect.signature(value).parameters.values():
        prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(
            parameter.kind, ""
        )
        if parameter.kind is parameter.KEYWORD_ONLY and not seen_star:
            parameters.append("*")
        seen_star = seen_star or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.KEYWORD_ONLY,
        )
        has_default = parameter.default is not parameter.empty
        default = f"={default_text(parameter.default)}" if has_default else ""
        parameters.append(f"{prefix}{parameter.name}{default}")
    return definition(name, parameters, result_type(value), value.__doc__, indent)


def method(name, value, kind):
    """Return the stub of an attribute of the array or symbol class; nothing for private ones."""
    if name in SPECIAL:
        parameters, result = SPECIAL[name]
        result = (result or kind).format(kind)
        text = definition(name, ["self", *filter(None, [parameters])], result, "", "    ")
        differs = name in ("__eq__", "__ne__")
        return text[:-1] + "  # type: ignore[override]\n" if differs else text
    if name.startswith("_") and name != "__init__":
        return ""
    if type(value).__name__ == "LazyMethod":
        return f"    {name} = op.{name}\n" if name in homes.names(homes.MAIN) else ""
    if isinstance(value, property):
        typed = re.match(r"([^:]+): ", value.__doc__ or "")
        result = documented_type(typed[1]) if typed else result_type(value.fget)
        return "    @property\n" + definition(
            name, ["self"], result or "Any", value.__doc__, "    "
        )
    if isinstance(value, (staticmethod, classmethod)):
        decorator = f"    @{type(value).__name__}\n"
        return decorator + written(name, value.__func__, "    ")
    return (
        written(name, value, "    ")
        if callable(value)
        else f"    {name}: {SLOTS.get(name, 'Any')}\n"
    )
