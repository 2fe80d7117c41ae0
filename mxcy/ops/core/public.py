"""NumPy interface of operators: names and signatures in `mx.np`, from a record's `numpy`."""

import ast
from typing import Any

from mxcy.base import _Null

__all__ = ["Public", "parameters"]


class Public:
    """A function of `mx.np` or `mx.npx` that is one operator.

    Parameters
    ----------
    text : str
        Home, names and signature: ``"sum(a, axis=None, dtype=None, out=None, keepdims=False)"``,
        ``"linalg.det(a)"``, ``"npx.relu(data)"``, ``"abs absolute(x, out=None, **kwargs)"``.
        Parameters unknown to the operator, except ``out``, must keep their default on the fast
        path; others are handled in Python.
    number, number_first : str, optional
        Operators for (array, scalar) and (scalar, array), for functions of two arrays.
    rename : dict of str to str, optional
        Parameter name -> attribute name, where they differ.
    """

    __slots__ = ("text", "number", "number_first", "rename")

    def __init__(
        self,
        text: str,
        number: str | None = None,
        number_first: str | None = None,
        rename: dict[str, str] | None = None,
    ) -> None:
        self.text, self.number, self.number_first = text, number, number_first
        self.rename = rename or {}

    def names(self) -> list[tuple[str, str]]:
        """All (namespace, name) pairs: ``('', 'sum')`` is ``mx.np.sum``."""
        pairs = []
        for full in self.text.partition("(")[0].split():
            home, _, name = full.rpartition(".")
            pairs.append((home, name))
        return pairs

    @property
    def signature(self) -> str:
        """The parameter list as source text."""
        return self.text.partition("(")[2].rstrip()[:-1]


def parameters(signature: str) -> list[tuple[str, Any]]:
    """The non-starred parameters of a signature, with their default or Ellipsis."""
    function = ast.parse(f"def f({signature}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    names = [argument.arg for argument in function.args.args]
    defaults = [
        _Null if isinstance(value, ast.Name) else ast.literal_eval(value)
        for value in function.args.defaults
    ]
    return list(zip(names, [...] * (len(names) - len(defaults)) + defaults, strict=True))
