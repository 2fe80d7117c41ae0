"""Fused elementwise programs: several elementwise operators in one pass over memory.

For the pass that makes them::

    if fusible(node.op, node.attrs, ins, outs): ...   # Specs of the node's inputs and outputs
    text = program_of(2, [(mul, attrs, (0, 1)), (tanh, attrs, (2,))], outputs=(3,))
    F._fused_pointwise(lhs, rhs, program=text, num_args=2)

Values are numbered: the program's inputs first, then each step's result (its first output). All
steps of a program have one shape and one dtype, float32 or float64; only inputs may be broadcast
(see `repeats`). A program has at most `MAX_STEPS` steps, `MAX_INPUTS` inputs and `MAX_OUTPUTS`
outputs.

The text, ``elemwise_mul 0 1; tanh 2; -> 3``, names operators with their operands and attributes
(``_plus_scalar 0 scalar=2.0``), so that the operators' references define its meaning. Records
declare which operators can be steps (`Op.pointwise`); the kernel takes instructions from the same
table as the operators' kernels, and refuses unknown ones.
"""

from functools import lru_cache

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Int, Str
from mxcy.ops.core.infer import Spec, broadcast_shapes, require, same_dtype
from mxcy.ops.core.params import PROGRAM
from mxcy.ops.core.record import find, native, op, sample

__all__ = ["MAX_INPUTS", "MAX_OUTPUTS", "MAX_STEPS", "fusible", "parsed", "program_of", "repeats"]

MAX_STEPS, MAX_INPUTS, MAX_OUTPUTS = 64, 16, 8
_FLOATS = tuple(map(dtypes.code_of, ("float32", "float64")))
_FIRST_INPUT, _FIRST_OUTPUT = 100, 200  # operand places, as in leaf/fused/pointwise.cc


# --- interface for passes -----------------------------------------------------------------------


def repeats(shape, out):
    """Return how an input of `shape` broadcasts to results of shape `out`.

    Returns
    -------
    (extent, inner) or None
        The result at `position` uses element ``position // inner % extent``; extent is 0 if the
        shapes are equal. None if the input cannot be expressed that way.
    """
    if shape == out:
        return 0, 1
    shape = (1,) * (len(out) - len(shape)) + tuple(shape)
    if len(shape) != len(out) or any(
        n not in (1, full) for n, full in zip(shape, out, strict=True)
    ):
        return None
    kept = [i for i, n in enumerate(shape) if n != 1]
    if not kept:
        return 1, 1
    first, last = kept[0], kept[-1] + 1
    if shape[first:last] != tuple(out[first:last]):
        return None
    return Spec(shape).size, Spec(tuple(out[last:])).size


def fusible(op, attrs, ins, outs):
    """Return whether a node can be a step of a program with its output shape.

    Parameters
    ----------
    op : Op
    attrs : Attrs
        With dynamic attributes.
    ins, outs : list of Spec
        Completely known specs.
    """
    if op.pointwise(attrs) is None or not ins or outs[0].dtype not in _FLOATS:
        return False
    return all(
        spec.dtype == outs[0].dtype and repeats(spec.shape, outs[0].shape) is not None
        for spec in ins
    )


def program_of(count, steps, outputs):
    """Return the text of a program.

    Parameters
    ----------
    count : int
        Number of inputs of the program.
    steps : sequence of (Op, Attrs, sequence of int)
        Operator, attributes and value numbers of the operands.
    outputs : sequence of int
        Value numbers to return.
    """
    lines = []
    for number, (record, attrs, operands) in enumerate(steps):
        if not all(0 <= operand < count + number for operand in operands):
            raise ValueError(f"step {number} uses undefined values {operands}")
        arguments = [
            f"{field.name}={str(getattr(attrs, field.name)).replace(' ', '')}"
            for field in record.schema.fields
            if getattr(attrs, field.name) != field.default
        ]
        lines.append(" ".join([record.name, *map(str, operands), *arguments]))
    return "; ".join([*lines, " ".join(["->", *map(str, outputs)])])


# --- parsing -----------------------------------------------------------------------


class _Step:
    """One operator of a program: its record, attributes and operands."""

    def __init__(self, text):
        name, *words = text.split()
        self.op = find(name)
        self.operands = tuple(int(word) for word in words if "=" not in word)
        fields = dict(word.split("=", 1) for word in words if "=" in word)
        schema = self.op.schema
        attrs = schema.intern(name, fields)
        attrs = schema.filled(attrs, schema.dynamic_values(name, fields))
        self.attrs = attrs.with_values(("train",), (False,)) if self.op.uses_mode else attrs

    def evaluate(self, xp, values):
        """Return the first output, computed by the operator's reference."""
        arrays = [values[operand] for operand in self.operands]
        ref = self.op.ref
        results = ref(self.attrs, xp, arrays) if self.op.variadic else ref(self.attrs, xp, *arrays)
        return results[0] if isinstance(results, (tuple, list)) else results

    def instructions(self, dtype):
        """Return the step as (name, operands, numbers); operand None is the previous result."""
        kernel = self.op.pointwise(self.attrs)
        require(kernel is not None, f"program: {self.op.name} is not elementwise")
        spec = Spec((), dtype)
        if isinstance(kernel.pointwise, str):
            first, *others = self.operands
            if not others:
                return [("copy", (first,), ())]
            return [
                (kernel.pointwise, (None if i else first, operand), ())
                for i, operand in enumerate(others)
            ]
        name = kernel.name
        if callable(name):
            name = name(self.attrs, (spec,), (spec,))
        numbers = ()
        if kernel.struct is not None:
            arguments = kernel.params(self.attrs, (spec,), (spec,)) if kernel.params else {}
            numbers = tuple(
                float(arguments[field] if field in arguments else getattr(self.attrs, field))
                for field in kernel.struct.offsets
            )
        return [(name, () if name == "fill" else self.operands, numbers)]


@lru_cache(maxsize=1024)
def parsed(text, count):
    """Return the steps and the outputs of a program of `count` inputs."""
    *lines, last = (line.strip() for line in text.split(";"))
    require(last.startswith("->"), f"program: expected '-> outputs' at the end, got {last!r}")
    try:
        steps, outputs = [_Step(line) for line in lines], tuple(map(int, last[2:].split()))
    except ValueError as error:
        raise MXNetError(f"program: {error}") from None
    for number, step in enumerate(steps):
        require(
            all(0 <= operand < count + number for operand in step.operands),
            f"program: step {number} uses undefined values {step.operands}",
        )
    require(
        outputs and all(0 <= value < count + len(steps) for value in outputs),
        f"program: outputs {outputs} are not among its values",
    )
    return steps, outputs


# --- lowering: from values to registers --------------------------------------------------------


def name_code(name):
    """Return the FNV-1a hash of a name, an instruction's code (see leaf/elementwise/functor.h)."""
    code = 2166136261
    for byte in name.encode():
        code = (code ^ byte) * 16777619 & 0xFFFFFFFF
    return code


class _Registers:
    """Allocator of registers."""

    def __init__(self):
        self.free, self.count = [], 0

    def take(self):
        if self.free:
            return self.free.pop()
        self.count += 1
        return self.count - 1


class _Lowering:
    """Lowering of a program's steps to instructions with operand and result places.

    A result is written directly to an output's memory only if no input is read later, as outputs
    may alias inputs.
    """

    def __init__(self, steps, outputs, forms, dtype):
        self.forms, self.registers, self.code = forms, _Registers(), []
        self.place = {
            value: _FIRST_INPUT + value for value, form in enumerate(forms) if form[0] in (0, 1)
        }
        flat, names = self._flatten(steps, dtype)
        outputs = [names[value] for value in outputs]
        self.last = {value: number for number, (_, _, uses, _) in enumerate(flat) for value in uses}
        self.last.update(dict.fromkeys(outputs, len(flat)))
        reads = [
            number
            for number, (_, _, uses, _) in enumerate(flat)
            if any(isinstance(value, int) and value < len(forms) for value in uses)
        ]
        # Save returned inputs before anything is written.
        returned = [value for value in outputs if isinstance(value, int)]
        for value in dict.fromkeys(returned):
            if self._readable(value) >= _FIRST_INPUT:
                self._add("copy", self.registers.take(), [self.place[value]], ())
                self.place[value] = self.code[-1][1]
        quiet = len(flat) if returned else max(reads, default=-1)  # no input is read from here on
        for number, (name, value, uses, numbers) in enumerate(flat):
            direct = value in outputs and number >= quiet
            self._emit(number, name, value, uses, numbers, outputs, direct)
        for index, value in enumerate(outputs):
            target = _FIRST_OUTPUT + index
            if self.place[value] != target:
                self._add("copy", target, [self.place[value]], ())

    def _flatten(self, steps, dtype):
        """Return (name, result, operands, numbers) of all instructions, and each value's result."""
        count, flat = len(self.forms), []
        names = dict(enumerate(range(count)))
        for number, step in enumerate(steps):
            before = None
            for index, (name, operands, numbers) in enumerate(step.instructions(dtype)):
                value = (number, index)
                uses = [before if o is None else names[o] for o in operands]
                flat.append((name, value, uses, numbers))
                before = value
            names[count + number] = before
        return flat, names

    def _emit(self, number, name, value, uses, numbers, outputs, direct):
        ones = [self._is_one(use) for use in uses]
        # Binary instructions take a single element as one operand; otherwise it is spread.
        spread = len(uses) == 1 or all(ones)
        places = [
            self._readable(use) if spread or not single else self.place[use]
            for use, single in zip(uses, ones, strict=True)
        ]
        for use in set(uses):
            if self.last[use] == number and self.place[use] < _FIRST_INPUT:
                self.registers.free.append(self.place[use])
        if direct:
            self.place[value] = _FIRST_OUTPUT + outputs.index(value)
        else:
            self.place[value] = self.registers.take()
        self._add(name, self.place[value], places, numbers)
        if value not in self.last and not direct:  # unused
            self.registers.free.append(self.place[value])

    def _is_one(self, value):
        return isinstance(value, int) and self.forms[value][0] == 1

    def _readable(self, value):
        """Return the place of a value's elements, spreading repeated inputs into a register."""
        if value not in self.place or self._is_one(value) and self.place[value] >= _FIRST_INPUT:
            self.place[value] = self.registers.take()
            self._add("expand", self.place[value], [_FIRST_INPUT + value], ())
        return self.place[value]

    def _add(self, name, dst, places, numbers):
        self.code.append((name, dst, *(*places, -1, -1)[:2], numbers))


def _forms(ins, outs):
    return [repeats(spec.shape, outs[0].shape) for spec in ins]


def _lower(a, ins, outs):
    steps, outputs = parsed(a.program, a.num_args)
    return _Lowering(steps, outputs, _forms(ins, outs), outs[0].dtype)


def _params(a, ins, outs):
    lowered, forms = _lower(a, ins, outs), _forms(ins, outs)
    names, dst, lhs, rhs, numbers = zip(*lowered.code, strict=True)
    codes = [name_code(name) for name in names]
    return {
        "steps": len(codes),
        "registers": lowered.registers.count,
        "code": [code - (code >> 31 << 32) for code in codes],
        "dst": dst,
        "a": lhs,
        "b": rhs,
        "numbers": [n for pair in numbers for n in (*pair, 0.0, 0.0)[:2]],
        "extent": [form[0] for form in forms],
        "inner": [form[1] for form in forms],
    }


def _refuse(a, ins, outs):
    if outs[0].dtype not in _FLOATS:
        return "programs compute in float32 and float64"
    if len(ins) > MAX_INPUTS or len(outs) > MAX_OUTPUTS:
        return f"more than {MAX_INPUTS} inputs or {MAX_OUTPUTS} outputs"
    if None in _forms(ins, outs):
        return "an input is not repeated in a simple way"
    steps = len(_lower(a, ins, outs).code)
    return f"{steps} steps are more than {MAX_STEPS}" if steps > MAX_STEPS else None


def _work(a, ins, outs):
    return outs[0].size * max(len(parsed(a.program, a.num_args)[0]), 1)


@op(
    "_fused_pointwise",
    inputs="",
    variadic="data",
    num_args="num_args",
    outputs=lambda a: tuple(f"output{i}" for i in range(len(parsed(a.program, a.num_args)[1]))),
)
class FusedPointwise:
    """Run a program of elementwise operators, such as ``elemwise_mul 0 1; tanh 2; -> 3``.

    Shapes: inputs are broadcast; all outputs have the broadcast shape. Values are numbered: inputs
    first, then the result of each step.
    """

    program: Str
    num_args: Int

    kernels = (
        native(
            "fused_pointwise",
            struct=PROGRAM,
            params=_params,
            when=_refuse,
            work=_work,
            inplace=True,
            asks=True,
        ),
    )
    samples = (
        sample(
            (3, 50),
            (3, 50),
            (3, 50),
            program="elemwise_mul 0 1; elemwise_add 3 2; sigmoid 4; tanh 4; elemwise_mul 5 6; -> 7",
        ),
        sample((40, 70), program="_rminus_scalar 0 scalar=2.0; clip 1 a_min=0.5 a_max=2.5; -> 2"),
        sample(
            (2, 3, 4, 5),
            (3, 1, 1),
            (1,),
            (5,),
            program="broadcast_mul 0 1; broadcast_sub 4 2; broadcast_sub 2 5; exp 6;"
            " broadcast_add 7 3; _maximum 8 0; -> 9 5",
        ),
        sample(
            (2, 3000),
            (1,),
            (1, 1),
            program="broadcast_mul 1 2; tanh 1; broadcast_add 0 4; broadcast_add 5 3;"
            " LeakyReLU 6 act_type=selu; Activation 7 act_type=softrelu; -> 8",
        ),
        sample(
            (7, 9),
            (7, 9),
            (7, 9),
            program="add_n 0 1 2 num_args=3; add_n 3 num_args=1; ones_like 0; elemwise_sub 5 4;"
            " _activation_grad 6 3 act_type=relu; square 0; -> 7 3 8 0 8",
        ),
        sample((3, 1), (1, 4), program="broadcast_add 0 1; -> 2"),
        sample((2, 1, 3), (2, 5, 3), program="broadcast_add 0 1; -> 2"),
    )

    def infer(a, ins):
        require(len(ins) == a.num_args, f"num_args: {a.num_args} for {len(ins)} inputs")
        steps, outputs = parsed(a.program, a.num_args)
        dtype = same_dtype(ins, [f"data{i}" for i in range(len(ins))])
        shape = ins[0].shape
        for spec in ins[1:]:
            shape = broadcast_shapes(shape, spec.shape, ("data", "data"))
        return [Spec(shape, dtype) for _ in outputs]

    def ref(a, xp, arrays):
        steps, outputs = parsed(a.program, a.num_args)
        values = list(arrays)
        for step in steps:
            values.append(step.evaluate(xp, values))
        shape = xp.broadcast_shapes(*(array.shape for array in arrays))
        return [xp.broadcast_to(values[value], shape) for value in outputs]
