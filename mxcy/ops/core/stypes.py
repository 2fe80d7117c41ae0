"""Storage type rules of records: combinations of sparse arrays that an operator supports.

The field ``stypes`` of a record is a tuple of rules. A call with a sparse input uses the first rule
that matches; without one, its inputs are converted to dense arrays, with a warning::

    stypes=(
        rule("csr csr -> csr", lambda a, F, lhs, rhs: merged(F, lhs, rhs, "add")),
        densely("csr default", "default csr"),
    )

A rule's function receives the attributes, the operators `F`, and the inputs: dense arrays
unchanged, sparse ones as their parts, `Csr` or `RowSparse`. It returns the output likewise.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from mxcy._base.errors import MXNetError

__all__ = [
    "Csr",
    "RowSparse",
    "Rule",
    "UnorderedRows",
    "densely",
    "find",
    "flat",
    "makes_sparse",
    "on_stored",
    "refuse",
    "rule",
    "update",
]


class Csr(NamedTuple):
    """The parts of a csr array (rows, columns): row i has the entries indptr[i] to indptr[i + 1].

    `data` and `indices` (the columns) have one element per entry; `indptr` has rows + 1. Indices
    are int64.
    """

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, ...]

    @property
    def stype(self) -> str:
        """The storage type."""
        return "csr"

    @property
    def aux(self) -> tuple[Any, ...]:
        """The index arrays in the order of files."""
        return self.indptr, self.indices


class RowSparse(NamedTuple):
    """The parts of a row_sparse array: `data` has the rows `indices` (int64), others are zero."""

    data: Any
    indices: Any
    shape: tuple[int, ...]

    @property
    def stype(self) -> str:
        """The storage type."""
        return "row_sparse"

    @property
    def aux(self) -> tuple[Any, ...]:
        """The index arrays in the order of files."""
        return (self.indices,)


class UnorderedRows(RowSparse):
    """Parts with unsorted indices, as given by a program; rules never receive them."""

    __slots__ = ()


class Rule:
    """The treatment of a combination of storage types, created by `rule`, `update` etc.

    Attributes
    ----------
    ins : tuple of str
        The inputs' storage types.
    repeated : bool
        Whether the single type in `ins`, or ``'any'``, applies to any number of inputs.
    out : str
        The output's storage type.
    run : callable, or one of DENSE and STORED
        ``run(a, F, *inputs)``; DENSE: run the operator on dense inputs; STORED: run the operator on
        the stored values of the sparse input.
    when : callable or None
        ``when(a, *specs)``: whether the rule applies to these attributes and inputs.
    updates : bool
        Whether `run` writes to the first input in place and returns nothing.
    warns : bool
        Whether to warn about the dense fallback.
    """

    __slots__ = ("ins", "repeated", "out", "run", "when", "updates", "warns")

    def __init__(
        self,
        pattern: str,
        run: Callable[..., Any] | str,
        when: Callable[..., bool] | None = None,
        updates: bool = False,
        warns: bool = False,
    ) -> None:
        ins, out = pattern.split("->")
        self.ins, self.out = tuple(ins.replace("...", "").split()), out.strip()
        self.repeated = "..." in ins
        self.run, self.when, self.updates, self.warns = run, when, updates, warns

    def fits(self, stypes: tuple[str, ...]) -> bool:
        """Whether the rule matches inputs of these storage types."""
        if self.repeated:
            return all(self.ins[0] in ("any", stype) for stype in stypes)
        return stypes == self.ins


DENSE = "dense"
STORED = "stored"


def rule(
    pattern: str,
    run: Callable[..., Any],
    when: Callable[..., bool] | None = None,
    warns: bool = False,
) -> Rule:
    """Make a rule such as ``rule("csr default -> csr", run)``; see `Rule`."""
    return Rule(pattern, run, when, warns=warns)


def update(pattern: str, run: Callable[..., None], when: Callable[..., bool] | None = None) -> Rule:
    """Make the rule of an optimizer that updates its first input in place."""
    return Rule(pattern, run, when, updates=True)


def densely(*patterns: str, when: Callable[..., bool] | None = None) -> tuple[Rule, ...]:
    """Make rules that densify inputs without a warning, as the result is dense anyway."""
    return tuple(Rule(f"{pattern} -> default", DENSE, when) for pattern in patterns)


def on_stored(*stypes: str, when: Callable[..., bool] | None = None) -> tuple[Rule, ...]:
    """Make rules of unary operators that map zero to zero, to run on stored values."""
    return tuple(Rule(f"{stype} -> {stype}", STORED, when) for stype in stypes)


def refuse(pattern: str, reason: str, when: Callable[..., bool] | None = None) -> Rule:
    """Make a rule that rejects a combination of storage types."""

    def run(a: Any, F: Any, *inputs: Any) -> NoReturn:
        raise MXNetError(reason)

    return Rule(f"{pattern} -> default", run, when)


def flat(rules: Iterable[Rule | tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """Flatten rules and tuples of rules."""
    listed = [rule if isinstance(rule, tuple) else (rule,) for rule in rules]
    return tuple(rule for group in listed for rule in group)


def find(op: Any, a: Any, stypes: tuple[str, ...], specs: Sequence[Any]) -> Rule | None:
    """Return the matching rule of a record, or None for the dense fallback."""
    for each in op.stypes:
        if each.fits(stypes) and (each.when is None or each.when(a, *specs)):
            return each
    return None


def makes_sparse(op: Any, a: Any, specs: Sequence[Any]) -> bool:
    """Whether a call on dense inputs has a sparse result."""
    return bool(op.stypes) and find(op, a, ("default",) * len(specs), specs) is not None
