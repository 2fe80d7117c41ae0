"""Helpers that `mx.base` offers for defining classes and generating docstrings."""

import inspect
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["add_fileline_to_docstring", "build_param_doc", "classproperty", "with_metaclass"]


def with_metaclass(meta: Any, *bases: type) -> type:
    """Make a base class that sets a metaclass, in code shared by Python 2 and 3.

    Parameters
    ----------
    meta : type
        The metaclass.
    *bases : type
        The base classes.

    Returns
    -------
    type
        ``class A(with_metaclass(M, B))`` equals ``class A(B, metaclass=M)``.
    """

    class Replaced(type):
        def __new__(cls, name: str, _: tuple[type, ...], members: dict[str, Any]) -> Any:
            return meta(name, bases, members)

        @classmethod
        def __prepare__(cls, name: str, _: tuple[type, ...]) -> Any:  # type: ignore[override]
            return meta.__prepare__(name, bases)

    return type.__new__(Replaced, "with_metaclass", (), {})


class _ClassProperty:
    def __init__(self, fget: Any, fset: Any = None) -> None:
        self._fget, self._fset = fget, fset

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._fget.__get__(instance, owner or type(instance))()

    def __set__(self, instance: Any, value: Any) -> None:
        if self._fset is None:
            raise AttributeError("cannot set attribute")
        self._fset.__get__(instance, type(instance))(value)

    def setter(self, func: Any) -> "_ClassProperty":
        """Decorate the class method that sets the property on an instance."""
        self._fset = func if isinstance(func, (classmethod, staticmethod)) else classmethod(func)
        return self


def classproperty(func: Any) -> _ClassProperty:
    """Decorate a method as a class property, read as ``A.name`` without an instance.

    Parameters
    ----------
    func : callable, classmethod or staticmethod
        A plain function is called with the class.
    """
    return _ClassProperty(
        func if isinstance(func, (classmethod, staticmethod)) else classmethod(func)
    )


def build_param_doc(
    arg_names: Sequence[str],
    arg_types: Sequence[str],
    arg_descs: Sequence[str],
    remove_dup: bool = True,
) -> str:
    """Generate the "Parameters" section of a docstring.

    Parameters
    ----------
    arg_names, arg_types, arg_descs : list of str
        Name, type and description of each parameter. ``num_args`` is skipped.
    remove_dup : bool
        Keep only the first of several parameters with the same name.

    Returns
    -------
    str
    """
    lines, seen = ["Parameters", "----------"], {"num_args"}
    for name, kind, description in zip(arg_names, arg_types, arg_descs, strict=False):
        if name == "num_args" or (remove_dup and name in seen):
            continue
        seen.add(name)
        lines.append(f"{name} : {kind}")
        if description:
            lines.append(f"    {description}")
    return "\n".join(lines) + "\n"


def add_fileline_to_docstring(module: Any, incursive: bool = True) -> None:
    """Append to each docstring of a module where in the source its function is defined.

    Parameters
    ----------
    module : module or str
        The module, or the name of one of an imported one.
    incursive : bool
        Whether to include the methods of its classes.
    """
    owner = sys.modules[module] if isinstance(module, str) else module
    for _, member in inspect.getmembers(owner):
        if inspect.isclass(member):
            if incursive and member.__module__ == getattr(owner, "__name__", None):
                add_fileline_to_docstring(member, False)
            continue
        function = getattr(member, "__func__", member)
        if not inspect.isfunction(function) or function.__doc__ is None:
            continue
        if "From:" not in function.__doc__:
            code = function.__code__
            function.__doc__ += f"\n\nFrom:{code.co_filename}:{code.co_firstlineno}"
