"""Functions of `mx.np` and `mx.npx`, created from operator records on first access."""

import math
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from mxcy._base.suggestions import no_attribute
from mxcy._library import front
from mxcy.base import _Null
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.general import Called, call
from mxcy.numpy._calls.handlers import UNUSUAL
from mxcy.ops.core import homes
from mxcy.ops.core.attrs import REQUIRED
from mxcy.ops.core.public import parameters
from mxcy.ops.core.record import find

__all__ = ["function", "offer", "plain"]

_made = {}


def function(namespace, name):
    """Return a function of a namespace by name, None if no record has it.

    Parameters
    ----------
    namespace, name : str
        See `mxcy.ops.core.homes.numpy_homes`.
    """
    entry = homes.numpy_homes().get((namespace, name))
    if entry is None:
        return None
    known = _made.get((namespace, name))
    if known is None:
        known = _made[namespace, name] = _compile(namespace, name, *entry)
    return known


def _places(record, public, names):
    """Map parameters to input or attribute positions, the last one for `out`, or -1."""
    fields = record.schema.names
    inputs = () if record.variadic else record.inputs
    known = {name: i for i, name in enumerate((*inputs, *fields, "out"))}
    for own, name in zip(inputs, names, strict=False):  # x1 is lhs
        known.setdefault(name, known[own])
    return [known.get(public.rename.get(name, name), -1) for name in names]


def _docstring(record, names, places):
    """Return the docstring: summary, parameters in signature order, and returned value."""
    inputs = () if record.variadic else record.inputs
    fields, lines = record.schema.fields, [record.doc, "", "Parameters", "----------"]
    for name, place in zip(names, places, strict=True):
        if name == record.variadic:
            lines.append(f"{name} : ndarrays")
        elif place < 0:
            lines += [f"{name} : optional", "    See NumPy."]
        elif place < len(inputs):
            optional = ", optional" if inputs[place] in record.optional else ""
            lines.append(f"{name} : ndarray{optional}")
        elif place < len(inputs) + len(fields):
            lines.append(f"{name} : {fields[place - len(inputs)].text}")
        else:
            lines += [f"{name} : ndarray, optional", "    Array to write the result to."]
    return "\n".join([*lines, "", "Returns", "-------", "ndarray or list of ndarrays"])


def _unlike(field, default):
    """Return a parameter's default if it differs from the operator's, else `_Null`."""
    if default is ... or default is _Null or default is None or field.type.dynamic:
        return _Null
    if field.default is REQUIRED:
        return default
    value = field.type.parse(default)
    if isinstance(value, float) and isinstance(field.default, float):  # may be rounded to float32
        return _Null if math.isclose(value, field.default, rel_tol=1e-6) else default
    return _Null if value == field.default else default


def _compile(namespace, name, record, public):
    general = plain(namespace, name, record, public)
    if record.variadic or record.eager or record.like_out:
        return general
    listed = parameters(public.signature)
    names = [parameter for parameter, _ in listed]
    places = _places(record, public, names)
    # Intern equal strings: the fast path compares identities.
    defaults = [sys.intern(value) if isinstance(value, str) else value for _, value in listed]
    numbers = [n and front.bind(find(n)) for n in (public.number, public.number_first)]
    absent, ninputs = [_Null] * len(record.schema.names), len(record.inputs)
    for place, value in zip(places, defaults, strict=True):
        if ninputs <= place < ninputs + len(absent):
            absent[place - ninputs] = _unlike(record.schema.fields[place - ninputs], value)
    return front.numpy_function(
        general, front.bind(record), names, places, defaults, absent, *numbers
    )


def plain(namespace, name, record, public):
    """Create an operator's Python function, which takes the general path for any arguments.

    Parameters
    ----------
    namespace, name : str
        See `mxcy.ops.core.homes.numpy_homes`.
    record : Op
    public : Public
        Its record's public part for that name.
    """
    names = [parameter for parameter, _ in parameters(public.signature)]
    places = _places(record, public, names)
    ninputs = 0 if record.variadic else len(record.inputs)
    by_place = dict(zip(places, names, strict=True))
    inputs = record.variadic or f"({''.join(f'{by_place[i]}, ' for i in range(ninputs))})"
    fields = [by_place.get(ninputs + i, "_Null") for i in range(len(record.schema.names))]
    others = [n for n, place in zip(names, places, strict=True) if place < 0]
    keywords = ", ".join(f"{n!r}: {n}" for n in others)
    more = "**kwargs" if "**kwargs" in public.signature else ""
    source = (
        f"def {name}({public.signature}):\n"
        f"    return _call(_called, {inputs}, "
        f"({''.join(f'{n}, ' for n in fields)}), {by_place.get(ninputs + len(fields))}, "
        f"{{{', '.join(filter(None, (keywords, more)))}}})\n"
    )
    full = f"{namespace}.{name}" if namespace else name
    scope = {
        "_Null": _Null,
        "_call": UNUSUAL.get(full, call),
        "_called": Called(full, record, public, find, ndarray),
    }
    exec(compile(source, f"<mx.np.{full}>", "exec"), scope)
    compiled = scope[name]
    compiled.__doc__ = _docstring(record, names, places)
    compiled.__module__ = "mxcy.numpy"
    return compiled


#: homes of names looked up in the wrong namespace
_SIBLINGS = {"mxcy.numpy": "mxcy.numpy_extension", "mxcy.numpy_extension": "mxcy.numpy"}


def offer(module, namespace):
    """Return ``__getattr__`` and ``__dir__`` of a module that exposes a namespace's operators."""

    def lookup(name):
        value = function(namespace, name)
        if value is None:
            package = "__path__" in vars(sys.modules[module]) and not name.startswith("_")
            if package and find_spec(f"{module}.{name}") is not None:
                return import_module(f"{module}.{name}")
            raise no_attribute(module, name, _SIBLINGS.get(module))
        setattr(sys.modules[module], name, value)
        return value

    def listing():
        offered = [name for home, name in homes.numpy_homes() if home == namespace]
        own = {
            name
            for name, value in vars(sys.modules[module]).items()
            if not isinstance(value, ModuleType) or value.__name__ == f"{module}.{name}"
        }
        return sorted({*own, *offered})

    return lookup, listing
