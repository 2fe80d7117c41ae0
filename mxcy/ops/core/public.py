"""What `mx.np` calls an operator: names and signature, which a record's part `numpy` tells."""

import ast
from typing import Any

from mxcy.base import _Null

__all__ = ["Public", "parameters"]


class Public:
    """A function of `mx.np` or `mx.npx` behind which one operator stands.

    Parameters
    ----------
    text : str
        Home, names and signature: ``"sum(a, axis=None, dtype=None, out=None, keepdims=False)"``,
        ``"linalg.det(a)"``, ``"npx.relu(data)"``, ``"abs absolute(x, out=None, **kwargs)"``.
        Parameters that the operator does not know, besides ``out``, have to keep their default on
        the quick way; Python sees to the others.
    number, number_first : str, optional
        The operators of an array and a number that stand behind a function of two arrays.
    rename : dict of str to str, optional
        Parameters whose attributes have other names.
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
        """All (namespace, name): ``('', 'sum')`` is ``mx.np.sum``."""
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
    """The parameters of a signature without starred ones, each with its default or Ellipsis."""
    function = ast.parse(f"def f({signature}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    names = [argument.arg for argument in function.args.args]
    defaults = [
        _Null if isinstance(value, ast.Name) else ast.literal_eval(value)
        for value in function.args.defaults
    ]
    return list(zip(names, [...] * (len(names) - len(defaults)) + defaults, strict=True))
