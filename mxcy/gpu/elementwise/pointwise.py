"""Pointwise kernels: lines of ``kernels/elemwise.def`` and fused programs as CUDA source.

The lines are those of the CPU's kernels; ``texts/functors.cuh`` defines them for scalars. A thread
processes 4 neighbouring elements (2 of 8 bytes) if the addresses are aligned, else 1.
"""

import functools
import re
from pathlib import Path

from mxcy._base import dtypes
from mxcy.gpu import driver
from mxcy.gpu.launch import F64, I64, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, kernel
from mxcy.ops.fused import pointwise

__all__ = ["elements", "elementwise", "line_maker", "pointwise_launch", "position_type", "text_of"]

_CODES = dtypes.CODES
_TEXTS = Path(__file__).parents[1] / "texts"
_REALS = tuple(map(_CODES.get, ("float32", "float16", "bfloat16", "float64")))
_INTEGERS = tuple(map(_CODES.get, ("uint8", "int8", "int32", "int64")))
#: sets of dtypes in elemwise.def, as in functor.h
_BUILT = {
    "REAL": (*_REALS, *_INTEGERS),
    "FLOATING": _REALS,
    "WHOLE_FLOATS": (_CODES["float32"], _CODES["float64"]),
    "NUMBER": (*_REALS, *_INTEGERS, _CODES["uint64"]),
    "BITS": (*_INTEGERS, _CODES["uint64"]),
}
_SMALL = 1 << 30  # largest size with 32-bit indices
#: words of a thread's operands: the most, and those beyond which it needs more than 64 registers
_MOST_WORDS, _FEW_WORDS = 72, 32
_FEW_STEPS = 48  # steps beyond which their values need more


def position_type(specs, extents=()):
    """Return the index type; divisions of 64 bits take several times as long."""
    largest = max((*(spec.size for spec in specs), *extents), default=0)
    return "int" if largest < _SMALL else "Long"


@functools.cache
def text_of(name):
    """Return one of the files in `texts`."""
    return (_TEXTS / name).read_text("utf-8")


@functools.cache
def elements():
    """Return the source common to all kernels: element types."""
    return text_of("elements.cuh") + "using namespace mx;\n"


@functools.cache
def _lines():
    """Return name -> (macro, set of dtypes) of the lines of elemwise.def."""
    lines = re.findall(r"^(MX_\w+)\((\w+), (\w+),", driver.lines(), re.MULTILINE)
    return {name: (macro, types) for macro, name, types in lines}


@functools.cache
def _functors():
    return f"{elements()}{text_of('functors.cuh')}{driver.lines()}}}  // namespace mx\n"


def _computed(dtype, types):
    """Return the C type in which a line computes a dtype; None if it does not support it."""
    if dtype not in _BUILT[types]:
        return None
    if dtype in _REALS or types == "REAL":
        return "double" if dtype == _CODES["float64"] else "float"
    return TYPES[dtype]


# --- source ------------------------------------------------------------------------------------


def _place(number, form, index):
    """Return the offset of an input's element for position `index`."""
    if form == "each":
        return index
    if form == "one":
        return "0"
    if form == "repeat":
        return f"{index} / inner{number} % extent{number}"
    loops, position = [], index
    for d in reversed(range(form)):
        at = position if d == 0 else f"{position} % shape_{d}"
        loops.append(f"({at}) * stride{number}_{d}")
        position = f"({position} / shape_{d})"
    return " + ".join(loops)


def _body(inputs, outputs, computed, steps, results, index, vectorized):
    """Return the statements for one position: k of a run, or `index`."""
    lines = []
    for i, (_, form, truth) in enumerate(inputs):
        element = (
            f"a{i}.x[k]" if vectorized and form == "each" else f"in{i}[{_place(i, form, index)}]"
        )
        lines.append(
            f"const {computed} v{i} = read({element}) != 0;"
            if truth
            else f"const {computed} v{i} = cast<{computed}>({element});"
        )
    lines += [f"const {computed} {name} = {text};" for name, text in steps]
    for i, (type_, value) in enumerate(zip(outputs, results, strict=True)):
        target = f"b{i}.x[k]" if vectorized else f"out{i}[{index}]"
        lines.append(f"{target} = cast<{type_}>({value});")
    return "\n      ".join(lines)


def _parameters(inputs, outputs, computed, numbers, integer):
    """Return the parameters of a program's kernels, and the statements that convert them."""
    ndim = max((form for _, form, _ in inputs if isinstance(form, int)), default=0)
    parameters = [f"const {type_}* in{i}" for i, (type_, _, _) in enumerate(inputs)]
    parameters += [f"{type_}* out{i}" for i, type_ in enumerate(outputs)]
    parameters += ["Long count", *(f"Long shape{d}" for d in range(1, ndim))]
    locals_ = [f"const {integer} n = ({integer})count;"]
    locals_ += [f"const {integer} shape_{d} = ({integer})shape{d};" for d in range(1, ndim)]
    for i, (_, form, _) in enumerate(inputs):
        if form == "repeat":
            parameters += [f"Long extent_{i}", f"Long inner_{i}"]
            locals_.append(
                f"const {integer} extent{i} = ({integer})extent_{i},"
                f" inner{i} = ({integer})inner_{i};"
            )
        elif isinstance(form, int):
            parameters += [f"Long stride{i}_{d}" for d in range(form)]
    parameters += [f"double number{i}" for i in range(numbers)]
    locals_ += [f"const {computed} s{i} = cast<{computed}>(number{i});" for i in range(numbers)]
    return ", ".join(parameters), "\n  ".join(locals_)


def _text(inputs, outputs, computed, steps, results, numbers, integer, width, resident):
    """Return the kernels of a program: `program`, and `program_wide` if `width` > 1.

    Multiprocessors can hold `resident` blocks, which limits the registers of a thread.
    """
    head, locals_ = _parameters(inputs, outputs, computed, numbers, integer)
    start = f"({integer})blockIdx.x * blockDim.x + threadIdx.x"
    step = f"({integer})gridDim.x * blockDim.x"
    plain = _body(inputs, outputs, computed, steps, results, "p", vectorized=False)
    text = f"""
extern "C" __global__ void __launch_bounds__(256, {resident}) program({head}) {{
  {locals_}
  for ({integer} p = {start}; p < n; p += {step}) {{
      {plain}
  }}
}}
"""
    if width == 1:
        return text
    loads = "\n    ".join(
        f"const Run<{type_}, {width}> a{i} = *(const Run<{type_}, {width}>*)(in{i} + p);"
        for i, (type_, form, _) in enumerate(inputs)
        if form == "each"
    )
    runs = " ".join(f"Run<{type_}, {width}> b{i};" for i, type_ in enumerate(outputs))
    stores = "\n    ".join(
        f"*(Run<{type_}, {width}>*)(out{i} + p) = b{i};" for i, type_ in enumerate(outputs)
    )
    inner = _body(inputs, outputs, computed, steps, results, "(p + k)", vectorized=True)
    return f"""{text}
extern "C" __global__ void __launch_bounds__(256, {resident}) program_wide({head}) {{
  {locals_}
  for ({integer} p = ({start}) * {width}; p + {width} <= n; p += {step} * {width}) {{
    {loads}
    {runs}
#pragma unroll
    for (int k = 0; k < {width}; ++k) {{
      {inner}
    }}
    {stores}
  }}
  if (blockIdx.x == 0 && threadIdx.x < n % {width}) {{
    const {integer} p = n - n % {width} + threadIdx.x;
      {plain}
  }}
}}
"""


def _words_of(specs):
    """Return the number of 32-bit words of one element of each operand."""
    return sum(dtypes.dtype_of(spec.dtype).itemsize for spec in specs) / 4


def pointwise_launch(ins, outs, computed, steps, results, forms, numbers, truths=(), extents=()):
    """Return the launch of a program.

    Parameters
    ----------
    ins, outs : list of Spec
    computed : str
        The C type of the computation.
    steps : list of (str, str)
        Names of values, and their expressions of inputs ``v0``..., numbers ``s0``... and values.
    results : list of str
        Names of the outputs' values.
    forms : list
        For each input ``"each"`` (elementwise), ``"one"`` (a scalar), (extent, inner) of a repeated
        one, or its strides over `extents`.
    numbers : list of (float, int or None)
        Scalars, see `F64`.
    truths : collection of int
        Inputs that are converted to truth values.
    extents : list of int
        The shape that the strides belong to.
    """
    count = outs[0].size
    arguments = [Input(i) for i in range(len(ins))] + [Output(i) for i in range(len(outs))]
    arguments += [I64(count), *(I64(extent) for extent in extents[1:])]
    kinds = []
    for form in forms:
        if isinstance(form, str):
            kinds.append(form)
        elif isinstance(form, tuple):
            kinds.append("repeat")
            arguments += map(I64, form)
        else:
            kinds.append(len(form))
            arguments += map(I64, form)
    arguments += [F64(*pair) for pair in numbers]
    inputs = [(TYPES[s.dtype], k, i in truths) for i, (s, k) in enumerate(zip(ins, kinds))]  # noqa: B905
    bytes_ = max(dtypes.dtype_of(s.dtype).itemsize for s in (*ins, *outs))
    strided = any(isinstance(kind, int) for kind in kinds)
    width = 1 if strided else 2 if bytes_ == 8 else 4
    words = width * _words_of([*(s for s, k in zip(ins, kinds) if k == "each"), *outs])  # noqa: B905
    while width > 1 and words > _MOST_WORDS:
        width, words = width // 2, words / 2
    resident = 4 if words <= _FEW_WORDS and len(steps) <= _FEW_STEPS else 2
    integer = "int" if count < _SMALL else "Long"
    types = [TYPES[spec.dtype] for spec in outs]
    text = _functors() + _text(
        inputs, types, computed, steps, results, len(numbers), integer, width, resident
    )
    wide = "program_wide" if width > 1 else None
    return Launch(text, "program", spread(count, width), arguments, wide)


# --- makers ------------------------------------------------------------------------------------


def _call(name, operands, numbers):
    """Return the expression of a line (or ``rsub_scalar``...), None if there is none."""
    lines = _lines()
    stem = name.removesuffix("_broadcast").removesuffix("_scalar")
    if name.endswith("_scalar") and stem not in lines:
        stem, operands, numbers = stem[1:], numbers, operands
    if stem not in lines:
        return None
    return f"k_{stem}<{{}}>({', '.join([*operands, *numbers])})"


def line_maker(name):
    """Return the maker of the kernel of a line, or None if there is no such line."""
    lines = _lines()
    stem = name.removesuffix("_broadcast").removesuffix("_scalar")
    known = stem in lines or (name.endswith("_scalar") and stem[:1] == "r" and stem[1:] in lines)
    return elementwise if known else None


def elementwise(request):
    """A line of elemwise.def for one array, two, an array and scalars, or broadcast arrays."""
    name, lines = request.name, _lines()
    stem = name.removesuffix("_broadcast").removesuffix("_scalar")
    macro, types = lines.get(stem) or lines[stem[1:]]
    computed = _computed(request.dtype, types)
    if computed is None:
        return f"does not support {dtypes.name_of(request.dtype)}"
    request.inplace = True
    # Further operands are unused, such as the labels of a loss that returns predictions.
    operands = 1 if macro.startswith("MX_UNARY") or name.endswith("_scalar") else 2
    ins, outs = request.ins[:operands], request.outs[:1]
    numbers, forms, extents = [], ["each"] * len(ins), []
    if name.endswith("_broadcast"):
        ndim, request.inplace = request.values["ndim"], False
        if ndim > 8:
            return "has more than 8 dimensions after merging"
        extents = list(request.values["shape"])[:ndim]
        forms = [list(request.values[side])[:ndim] for side in ("lhs", "rhs")]
    elif name.endswith("_scalar"):
        numbers = [request.number("scalar")]
    elif macro == "MX_UNARY2":
        numbers = [request.number(field) for field in list(request.values)[:2]]
        numbers += [(0.0, None)] * (2 - len(numbers))
    values = [f"v{i}" for i in range(len(ins))]
    text = _call(name, values, [f"s{i}" for i in range(len(numbers))]).format(computed)
    steps, results = [("r0", text)], ["r0"]
    return [pointwise_launch(ins, outs, computed, steps, results, forms, numbers, (), extents)]


@kernel("fused_pointwise", inplace=True)
def program(request):
    """A program of `mxcy.ops.fused.pointwise`."""
    steps, outputs = pointwise.parsed(request.attrs.program, request.attrs.num_args)
    computed, lines, numbers = TYPES[request.dtype], [], []
    values = {i: f"v{i}" for i in range(len(request.ins))}
    for index, step in enumerate(steps):
        before = None
        for name, operands, constants in step.instructions(request.dtype):
            places = [before if operand is None else values[operand] for operand in operands]
            own = [f"s{len(numbers) + i}" for i in range(len(constants))]
            numbers += [(number, None) for number in constants]
            if name in ("copy", "fill"):
                text = (places or own)[0]
            else:
                line = _lines().get(name)
                if line and line[0] == "MX_UNARY2":
                    own += ["0"] * (2 - len(own))
                text = _call(name, places, own)
                if text is None:
                    return f"elemwise.def has no line {name}"
                text = text.format(computed)
            before = f"t{len(lines)}"
            lines.append((before, text))
        values[len(request.ins) + index] = before
    forms = []
    for spec in request.ins:
        extent, inner = pointwise.repeats(spec.shape, request.outs[0].shape)
        forms.append("each" if extent == 0 else "one" if extent == 1 else (extent, inner))
    if len(numbers) + 3 * len(forms) + len(request.outs) > 60:
        return "it has too many numbers"
    results = [values[output] for output in outputs]
    return [pointwise_launch(request.ins, request.outs, computed, lines, results, forms, numbers)]


@kernel("fill")
def fill(request):
    """Fill with a constant."""
    number = request.number("scalar")
    return [pointwise_launch([], request.outs, "double", [], ["s0"], [], [number])]


@kernel("cast")
def cast(request):
    """Cast to another dtype."""
    (data,), (out,) = request.ins, request.outs
    kinds = {spec.dtype for spec in (data, out)}
    if not kinds <= set(TYPES):
        return "does not support complex dtypes"
    integer = "Long" if data.dtype != _CODES["uint64"] else TYPES[data.dtype]
    computed = {_CODES["float64"]: "double"}.get(
        data.dtype, "float" if data.dtype in _REALS else integer
    )
    return [pointwise_launch([data], [out], computed, [], ["v0"], ["each"], [])]


@kernel("add_n", inplace=True)
def add_n(request):
    """The sum of arrays."""
    computed = _computed(request.dtype, "NUMBER")
    if computed is None or len(request.ins) > 48:
        return "does not support these arrays"
    steps = [("t0", "v0")]
    steps += [(f"t{i}", f"k_add<{computed}>(t{i - 1}, v{i})") for i in range(1, len(request.ins))]
    forms = ["each"] * len(request.ins)
    return [pointwise_launch(request.ins, request.outs, computed, steps, [steps[-1][0]], forms, [])]


@kernel("where")
def where(request):
    """where: elements of one array or the other."""
    condition, *sides = request.ins
    (out,) = request.outs
    if any(side.dtype != out.dtype for side in sides):
        return "requires arrays of one dtype"
    if {condition.dtype, out.dtype} - set(TYPES):
        return "does not support complex dtypes"
    forms = []
    for spec in request.ins:
        form = pointwise.repeats(spec.shape, out.shape)
        if form is None:
            return "broadcasts an array in several dimensions"
        forms.append("each" if form[0] == 0 else "one" if form[0] == 1 else form)
    computed = _computed(out.dtype, "NUMBER") or TYPES[out.dtype]
    if out.dtype == _CODES["bool"]:
        computed = "unsigned char"
    steps = [("r0", "v0 != 0 ? v1 : v2")]
    return [pointwise_launch(request.ins, [out], computed, steps, ["r0"], forms, [], {0})]
