"""Generation of operators' Python functions, shared by arrays and symbols.

A function is compiled from source, so that it has the operator's own parameters: calls bind them at
the speed of any Python function, and `inspect.signature` shows them.
"""

from collections.abc import Callable, Iterable
from typing import Any

from mxcy._base.errors import MXNetError
from mxcy.base import _Null
from mxcy.ops.core import record as records

__all__ = ["Namespace", "compile_function", "docstring", "operands", "signature", "tuple_source"]


def signature(record: Any, *keywords: str) -> str:
    """Make the parameter list of an operator's function, as source text.

    Parameters
    ----------
    record : Op
    *keywords : str
        Parameters after the inputs and the attributes.
    """
    if record.variadic:
        inputs = [f"*{record.variadic}"]
    else:
        inputs = [f"{name}=None" for name in record.inputs]
    fields = [f"{name}=_Null" for name in record.schema.names]
    return ", ".join([*inputs, *fields, *keywords, "**kwargs"])


def tuple_source(names: Iterable[str]) -> str:
    """Make the source text of a tuple."""
    return "(" + "".join(f"{name}, " for name in names) + ")"


def operands(record: Any) -> str:
    """Make the source text of the inputs passed on by such a function."""
    return record.variadic or tuple_source(record.inputs)


def docstring(record: Any, kind: str, sections: Iterable[str]) -> str:
    """Make a docstring from the record's summary and parameters, and further lines.

    Parameters
    ----------
    record : Op
    kind : str
        Type of the inputs.
    sections : iterable of str
        Lines on other parameters and the returned value.
    """
    lines = [record.doc, "", "Parameters", "----------"]
    if record.variadic:
        lines.append(f"{record.variadic} : {kind}[]")
    else:
        optional = record.optional
        lines += [f"{n} : {kind}{', optional' if n in optional else ''}" for n in record.inputs]
    lines += [f"{field.name} : {field.text}" for field in record.schema.fields]
    return "\n".join([*lines, *sections])


def compile_function(
    record: Any, name: str, source: str, scope: dict[str, Any], module: str, doc: str
) -> Callable[..., Any]:
    """Compile a function from source text.

    Parameters
    ----------
    record : Op
    name : str
        Name of the function.
    source : str
    scope : dict
        Names used in the source, except `_Null`.
    module : str
        The function's public module.
    doc : str

    Returns
    -------
    callable
        A function with the parameter types of MXNet's operator listings in ``__mx_params__``.
    """
    scope = {"_Null": _Null, **scope}
    exec(compile(source, f"<{module} {record.name}>", "exec"), scope)
    function = scope[name]
    function.__doc__ = doc
    function.__module__ = module
    kinds = {argument: "NDArray-or-Symbol" for argument in record.inputs}
    if record.variadic:
        kinds[record.variadic] = "NDArray-or-Symbol[]"
    function.__mx_params__ = {**kinds, **{f.name: f.text for f in record.schema.fields}}
    return function


class Namespace:
    """A namespace with every operator as an attribute, under each of its names.

    Parameters
    ----------
    function_of : callable
        ``function_of(record, name)`` creates an operator's function.
    """

    def __init__(self, function_of: Callable[[Any, str], Any]) -> None:
        self._function_of = function_of

    def __getattr__(self, name: str) -> Any:
        try:
            function = self._function_of(records.find(name), name)
        except MXNetError as error:
            raise AttributeError(str(error)) from None
        self.__dict__[name] = function
        return function
