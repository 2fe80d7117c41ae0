"""Mixed precision: what it does with an operator, which its record says, and the policy in force.

Under a policy some operators run in a 16-bit type, the target, and others in float32: their inputs
are cast. Eager calls ask `casts` when they are prepared, symbols when they are made (see
`mxcy.symbol.mixed`), and `mxcy.graph.passes.amp` asks for whole graphs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mxcy._base.dtypes import CODES

__all__ = ["CONSTRAINT", "TARGETS", "Policy", "Precision"]
__all__ += ["casts", "changes", "is_exempt", "mixed", "read"]

#: the attribute of symbols' nodes that tells which optimizations leave them alone
CONSTRAINT = "__opt_constraint__"
_NO_MIXED_PRECISION = 1  # its bit

#: the 16-bit types
TARGETS = ("float16", "bfloat16")
_KINDS = ("lp16", "fp32", "either", "widest")
_FLOAT32 = CODES["float32"]


def is_exempt(attrs: dict[str, str]) -> bool:
    """Whether the attributes of a symbol's node say that it runs in float32."""
    return int(attrs.get(CONSTRAINT, "0")) & _NO_MIXED_PRECISION != 0


@dataclass(frozen=True, slots=True)
class Precision:
    """What mixed precision does with an operator.

    Parameters
    ----------
    float16, bfloat16 : str
        For each target ``'lp16'``: inputs are cast to the target; ``'fp32'``: to float32;
        ``'either'``: it runs in the type that arrives; ``'widest'``: if one input is float32, all
        are.
    loss : bool
        Whether it makes the gradients of a loss, which its attribute `grad_scale` scales.
    fp32_when : (str, tuple of str), optional
        An attribute, and the values with which it runs in float32.
    fp32_inputs : tuple of str
        Inputs that are float32 also where the others are not.
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
        """The class under a target."""
        return self.float16 if target == "float16" else self.bfloat16


def read(text: str | Precision | None, name: str) -> Precision:
    """What a record says, spelled out.

    Parameters
    ----------
    text : str or Precision or None
        One class for both targets, or two with a slash between; ``'loss'`` runs in float32. None
        is ``'either'``, which for bfloat16 is float32 unless the operator is NumPy's: MXNet's list
        for that type is a short one.
    name : str
        The operator's.
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
    """Which operators run in which type.

    Parameters
    ----------
    target : str
        One of `TARGETS`.
    lp16, fp32 : iterable of str, optional
        The operators that run in the target and in float32, in place of what records say.
    conditional : iterable of (str, str, list of str), optional
        Operators that run in float32 if an attribute has one of some values, likewise.
    find : callable
        ``find(name)``: the record of a name, or None for operators that users write in Python.
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
        """What happens to the inputs of a call: a class of `Precision`.

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
        # What is in a list by its record, but not in the given one, runs in either type.
        return own if own == "widest" or self._in_force(own) else "either"

    def _listed(self, op: Any) -> str | None:
        for kind, names in zip(("lp16", "fp32"), self._lists, strict=True):
            if names is not None and op in names:
                return kind
        return None

    def _in_force(self, kind: str) -> bool:
        return kind == "either" or self._lists[kind == "fp32"] is None

    def has_condition(self, op: Any, a: Any) -> bool:
        """Whether a condition makes a call run in float32, not a list."""
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
    """What is in force in this process.

    Attributes
    ----------
    policy : Policy or None
        None while mixed precision is off.
    scaler : object or None
        Its `loss_scale` is the factor of the gradients of loss outputs.
    has_exemptions : bool
        Whether there may be scopes whose calls run in float32, so that calls with 16-bit inputs
        have to ask.
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
    """To which types the inputs of an eager call are cast; None where none is.

    Parameters
    ----------
    policy : Policy
    op : Op
    a : Attrs
    codes : sequence of int
        The inputs' element types.
    floats : iterable of int, optional
        The types that are cast at all, which depend on the device.
    exempt : bool
        Whether the call runs in float32, whatever it is.
    """
    exempt = exempt and not op.in_symbols.precision_cast  # which does just what it is asked for
    kind = "fp32" if exempt else policy.kind(op, a)
    if kind == "either" and op.variadic:
        kind = "widest"  # arrays of two types would not go together
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
    """Whether the policy in force has something to do with an eager call."""
    policy = mixed.policy
    if policy is None or a.exact:
        return False
    if op.amp.loss or casts(policy, op, a, codes) is not None:
        return True
    return mixed.has_exemptions and casts(policy, op, a, codes, exempt=True) is not None
