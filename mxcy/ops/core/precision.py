"""Mixed precision: operators' classes, declared by records, and the current policy.

Under a policy some operators run in a 16-bit type, the target, and others in float32: their inputs
are cast. `casts` is called when eager calls are prepared and when symbols are created (see
`mxcy.symbol.mixed`); `mxcy.graph.passes.amp` converts whole graphs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mxcy._base.dtypes import CODES

__all__ = ["CONSTRAINT", "TARGETS", "Policy", "Precision"]
__all__ += ["casts", "changes", "is_exempt", "mixed", "read"]

#: node attribute with flags of optimizations that must not be applied
CONSTRAINT = "__opt_constraint__"
_NO_MIXED_PRECISION = 1  # the flag of mixed precision

#: the 16-bit types
TARGETS = ("float16", "bfloat16")
_KINDS = ("lp16", "fp32", "either", "widest")
_FLOAT32 = CODES["float32"]


def is_exempt(attrs: dict[str, str]) -> bool:
    """Whether a node's attributes exempt it from mixed precision."""
    return int(attrs.get(CONSTRAINT, "0")) & _NO_MIXED_PRECISION != 0


@dataclass(frozen=True, slots=True)
class Precision:
    """The treatment of an operator by mixed precision.

    Parameters
    ----------
    float16, bfloat16 : str
        Class per target: ``'lp16'`` casts inputs to the target, ``'fp32'`` to float32; ``'either'``
        casts nothing; ``'widest'`` casts all inputs to float32 if one is.
    loss : bool
        Whether it is a loss whose gradients its attribute `grad_scale` scales.
    fp32_when : (str, tuple of str), optional
        An attribute and the values for which it runs in float32.
    fp32_inputs : tuple of str
        Inputs that remain float32 even if others are not.
    """

    float16: str
    bfloat16: str
    loss: bool = False
    fp32_when: tuple[str, tuple[str, ...]] | None = None
    fp32_inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not {self.float16, self.bfloat16} <= set(_KINDS):
            raise ValueError(f"expected classes of {_KINDS}, got {self.float16}, {self.bfloat16}")

    def of(self, target: str) -> str:
        """The class for a target."""
        return self.float16 if target == "float16" else self.bfloat16


def read(text: str | Precision | None, name: str) -> Precision:
    """Parse a record's specification.

    Parameters
    ----------
    text : str or Precision or None
        One class for both targets, or two separated by a slash; ``'loss'`` runs in float32. None is
        ``'either'``, which for bfloat16 means float32 unless it is a NumPy operator, because
        MXNet's list for that type is short.
    name : str
        The operator's name.
    """
    if isinstance(text, Precision):
        return text
    if text == "loss":
        return Precision("fp32", "fp32", loss=True)
    first, _, second = (text or "either").partition("/")
    if not second:
        second = "fp32" if first == "either" and not name.startswith("_np") else first
    return Precision(first, second)


class Policy:
    """The types in which operators run.

    Parameters
    ----------
    target : str
        One of `TARGETS`.
    lp16, fp32 : iterable of str, optional
        Operators that run in the target and in float32, overriding records.
    conditional : iterable of (str, str, list of str), optional
        Operators that run in float32 for some values of an attribute, overriding records.
    find : callable
        ``find(name)``: the record of a name, or None for custom operators.
    """

    def __init__(
        self,
        target: str,
        lp16: Iterable[str] | None = None,
        fp32: Iterable[str] | None = None,
        conditional: Iterable[Sequence[Any]] | None = None,
        find: Any = None,
    ) -> None:
        self.target, self.code = target, CODES[target]
        self._lists = [
            None if names is None else {find(name) for name in names} for names in (lp16, fp32)
        ]
        self._conditional: dict[Any, list[tuple[str, set[str]]]] | None = None
        if conditional is not None:
            self._conditional = {}
            for name, attribute, values in conditional:
                rows = self._conditional.setdefault(find(name), [])
                rows.append((attribute, set(map(str, values))))

    def kind(self, op: Any, a: Any) -> str:
        """The class (see `Precision`) of a call.

        Parameters
        ----------
        op : Op
        a : Attrs
        """
        listed = self._listed(op)
        if listed is not None:
            return listed
        if self._meets(op, a):
            return "fp32"
        own = op.amp.of(self.target)
        # Operators listed by their record but not in the given list run in either type.
        return own if own == "widest" or self._in_force(own) else "either"

    def _listed(self, op: Any) -> str | None:
        for kind, names in zip(("lp16", "fp32"), self._lists, strict=True):
            if names is not None and op in names:
                return kind
        return None

    def _in_force(self, kind: str) -> bool:
        return kind == "either" or self._lists[kind == "fp32"] is None

    def has_condition(self, op: Any, a: Any) -> bool:
        """Whether a call runs in float32 because of a condition rather than a list."""
        return self._listed(op) is None and self._meets(op, a)

    def _meets(self, op: Any, a: Any) -> bool:
        if self._conditional is not None:
            rows = self._conditional.get(op, ())
            return any(str(getattr(a, name, None)) in values for name, values in rows)
        if op.amp.fp32_when is None:
            return False
        name, values = op.amp.fp32_when
        return getattr(a, name) in values


class Mixed:
    """The current state of mixed precision in this process.

    Attributes
    ----------
    policy : Policy or None
        The policy; None if mixed precision is off.
    scaler : object or None
        Object whose `loss_scale` is the factor of loss outputs' gradients.
    has_exemptions : bool
        Whether there may be exempt scopes, so that calls with 16-bit inputs must be checked.
    """

    policy: Policy | None = None
    scaler: Any = None
    has_exemptions: bool = False


mixed = Mixed()


def casts(
    policy: Policy,
    op: Any,
    a: Any,
    codes: Sequence[int],
    floats: Iterable[int] | None = None,
    exempt: bool = False,
) -> list[int | None] | None:
    """Determine the types to which an eager call's inputs are cast; None if none is cast.

    Parameters
    ----------
    policy : Policy
    op : Op
    a : Attrs
    codes : sequence of int
        Dtype codes of the inputs.
    floats : iterable of int, optional
        Types that may be cast, depending on the device.
    exempt : bool
        Whether the call is in an exempt scope.
    """
    exempt = exempt and not op.in_symbols.precision_cast  # an explicit cast
    kind = "fp32" if exempt else policy.kind(op, a)
    if kind == "either" and op.variadic:
        kind = "widest"  # mixed input types would be rejected
    if kind == "either" or not codes:
        return None
    written = op.mutated(len(codes))
    if kind == "widest":
        changes = {policy.code: _FLOAT32} if _FLOAT32 in codes else {}
    else:
        goal = policy.code if kind == "lp16" else _FLOAT32
        from_types = (_FLOAT32, *map(CODES.__getitem__, TARGETS)) if floats is None else floats
        changes = {code: goal for code in from_types if code != goal}
    goals = [None if i in written else changes.get(code) for i, code in enumerate(codes)]
    return goals if any(goal is not None for goal in goals) else None


def changes(op: Any, a: Any, codes: Sequence[int]) -> bool:
    """Whether the current policy changes an eager call."""
    policy = mixed.policy
    if policy is None or a.exact:
        return False
    if op.amp.loss or casts(policy, op, a, codes) is not None:
        return True
    return mixed.has_exemptions and casts(policy, op, a, codes, exempt=True) is not None
