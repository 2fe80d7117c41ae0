"""Einstein summation by matrix products."""

import math

from mxcy._base.dtypes import CODES, is_inexact, name_of
from mxcy.ops.core.attrs import Int, Str
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.core.result_types import PROMOTE
from mxcy.ops.elementwise.cast import cast_back, cast_to
from mxcy.ops.matrix.numpy_products import gemm_kernels, promoted

__all__ = []

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class _Sum:
    """Parsed subscripts for operands of given shapes.

    Attributes
    ----------
    inputs : list of str
        One letter per axis, for each operand.
    output : str
        Letters of the result.
    extents : dict of str to int
    """

    def __init__(self, text, shapes):
        text = text.replace(" ", "")
        left, arrow, right = text.partition("->")
        terms = left.split(",")
        require(
            len(terms) == len(shapes), f"subscripts: {text!r} does not fit {len(shapes)} operands"
        )
        plain = text.replace("...", "").replace("->", "").replace(",", "")
        require(
            all(letter in _LETTERS for letter in plain),
            f"subscripts: expected letters, commas, '...' and one '->', got {text!r}",
        )
        unused = [letter for letter in _LETTERS if letter not in plain]
        self.inputs, most = [], 0
        for term, shape in zip(terms, shapes, strict=True):
            named = len(term.replace("...", ""))
            require(
                named == len(shape) or ("..." in term and named < len(shape)),
                f"subscripts: {term!r} does not fit an operand of shape {shape}",
            )
            most = max(most, len(shape) - named)
        require(most <= len(unused), "subscripts: more axes than letters")
        shared = "".join(unused[:most])
        for term, shape in zip(terms, shapes, strict=True):
            count = len(shape) - len(term.replace("...", ""))
            self.inputs.append(term.replace("...", shared[most - count :]))
        every = "".join(terms).replace("...", "")
        if not arrow:
            once = sorted(letter for letter in set(every) if every.count(letter) == 1)
            right = "..." + "".join(once)
        self.output = right.replace("...", shared)
        require(
            len(set(self.output)) == len(self.output)
            and set(self.output) <= set("".join(self.inputs)),
            f"subscripts: the result's letters {right!r} are not each one of the operands'",
        )
        self.extents = {}
        for term, shape in zip(self.inputs, shapes, strict=True):
            for letter, extent in zip(term, shape, strict=True):
                known = self.extents.setdefault(letter, extent)
                require(
                    known == extent or 1 in (known, extent) or -1 in (known, extent),
                    f"subscripts: {letter!r} has the sizes {known} and {extent}",
                )
                if known == 1 or extent == -1:
                    self.extents[letter] = extent

    @property
    def shape(self):
        """Return the result's shape."""
        return tuple(self.extents[letter] for letter in self.output)


def _without_repeats(xp, array, term, extents):
    """Reduce an operand to one axis per letter, dropping broadcast axes."""
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            array = xp.diagonal(array, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    kept = [i for i, x in enumerate(term) if array.shape[i] == extents[x] or array.shape[i] != 1]
    array = array.reshape([array.shape[i] for i in kept])
    return array, "".join(term[i] for i in kept)


def _reduced(array, term, needed):
    """Sum an operand over letters that appear nowhere else."""
    gone = tuple(i for i, letter in enumerate(term) if letter not in needed)
    if not gone:
        return array, term
    return array.sum(gone, dtype=array.dtype), "".join(x for x in term if x in needed)


def _pair(xp, first, second, needed):
    """Contract two operands over letters needed nowhere else, by matrix products."""
    (x, left), (y, right) = (
        _reduced(*operand, needed | set(partner[1]))
        for operand, partner in ((first, second), (second, first))
    )
    both = [letter for letter in left if letter in right]
    batch = [letter for letter in both if letter in needed]
    inner = [letter for letter in both if letter not in needed]
    rows = [letter for letter in left if letter not in right]
    columns = [letter for letter in right if letter not in left]
    sizes = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))
    b, m, k, n = (
        math.prod(sizes[letter] for letter in letters) for letters in (batch, rows, inner, columns)
    )
    x = x.transpose([left.index(letter) for letter in batch + rows + inner]).reshape(b, m, k)
    y = y.transpose([right.index(letter) for letter in batch + inner + columns]).reshape(b, k, n)
    product = xp.matmul(x, y) if k != 1 else x * y
    letters = batch + rows + columns
    return product.reshape([sizes[letter] for letter in letters]), "".join(letters)


def _order(xp, plan, arrays):
    """Return the contraction order: pairs of positions; results are appended at the end."""
    if len(arrays) < 3:
        return [tuple(range(len(arrays)))]
    text = ",".join(term for _, term in arrays) + "->" + plan.output
    return xp.einsum_path(text, *(array for array, _ in arrays), optimize="greedy")[0][1:]


def _evaluate(a, xp, arrays):
    arrays = promoted(a, xp, arrays)
    plan = _Sum(a.subscripts, [array.shape for array in arrays])
    kind = arrays[0].dtype
    if kind.itemsize == 2 and kind.kind == "f":
        arrays = [array.astype("float32") for array in arrays]
    left = [
        _without_repeats(xp, array, term, plan.extents)
        for array, term in zip(arrays, plan.inputs, strict=True)
    ]
    for step in _order(xp, plan, left):
        taken = [left.pop(i) for i in sorted(step, reverse=True)][::-1]
        needed = set(plan.output).union(*(term for _, term in left))
        while len(taken) > 1:
            later = needed.union(*(term for _, term in taken[2:]))
            taken[:2] = [_pair(xp, taken[0], taken[1], later)]
        left.append(_reduced(*taken[0], needed))
    ((operand, term),) = left
    missing = [letter for letter in plan.output if letter not in term]
    operand = operand.reshape(operand.shape + (1,) * len(missing))
    term += "".join(missing)
    operand = operand.transpose([term.index(letter) for letter in plan.output])
    return xp.ascontiguousarray(xp.broadcast_to(operand, plan.shape).astype(kind)).reshape(
        plan.shape
    )


def _partial(F, plan, g, operands, specs, position, code):
    """Return the gradient of one operand: an einsum of head gradient and other operands."""
    spec = specs[position]
    unused = [letter for letter in _LETTERS if letter not in plan.extents]
    own, terms, arrays = "", [plan.output], [g]
    for letter, extent in zip(plan.inputs[position], spec.shape, strict=True):
        if letter in own:  # off-diagonal elements have no gradient
            terms.append(letter + unused[-1])
            arrays.append(F._npi_eye(N=extent, dtype=name_of(code)))
            letter = unused.pop()
        own += letter
    for i, other in enumerate(operands):
        if i != position:
            terms.append(plan.inputs[i])
            arrays.append(other)
    shape = spec.shape
    known = set("".join(terms))
    letters = "".join(
        letter
        for letter, extent in zip(own, shape, strict=True)
        if letter in known and extent == plan.extents.get(letter, extent)
    )
    text = ",".join(terms) + "->" + letters
    summed = F._npi_einsum(*arrays, subscripts=text, num_args=len(arrays))
    kept = tuple(
        extent if letter in letters else 1 for letter, extent in zip(own, shape, strict=True)
    )
    summed = F._backward_reshape(summed, shape=kept)
    return summed if kept == shape else F._npi_broadcast_to(summed, shape=shape)


def _einsum_grad(a, F, g, inputs, needs, specs):
    plan = _Sum(a.subscripts, [spec.shape for spec in specs])
    code = PROMOTE(a, *specs)
    if code == CODES["bool"]:
        return None
    arrays = [cast_to(F, x, code, spec.dtype) for x, spec in zip(inputs, specs, strict=True)]
    gradients = []
    for i, (spec, needed) in enumerate(zip(specs, needs, strict=True)):
        if not needed or (is_inexact(code) and not is_inexact(spec.dtype)):
            gradients.append(None)
            continue
        gradient = _partial(F, plan, g, arrays, specs, i, code)
        gradients.append(cast_back(F, gradient, spec.dtype, code))
    return gradients


def _as_gemm(a, lhs, rhs):
    """Return (batch, m, n, k, transposes of the operands) if this is a gemm, or None."""
    plan = _Sum(a.subscripts, [lhs.shape, rhs.shape])
    left, right = plan.inputs
    shapes = [tuple(plan.extents[x] for x in term) for term in plan.inputs]
    if [lhs.shape, rhs.shape] != shapes or any(len(set(x)) < len(x) for x in plan.inputs):
        return None
    batch = [x for x in left if x in right and x in plan.output]
    inner = [x for x in left if x in right and x not in plan.output]
    rows, columns = ([x for x in t if x not in o] for t, o in ((left, right), (right, left)))
    if batch + rows + columns != list(plan.output):
        return None
    transposes = []
    for term, first, last in ((left, rows, inner), (right, inner, columns)):
        if list(term) not in (batch + first + last, batch + last + first):
            return None
        transposes.append(list(term) != batch + first + last)
    sizes = (math.prod(plan.extents[x] for x in part) for part in (batch, rows, columns, inner))
    return (*sizes, tuple(transposes))


def _einsum_kernels():
    """Return the kernels for two operands that are matrices."""

    def transposes(a, lhs, rhs):
        gemm = _as_gemm(a, lhs, rhs)
        return None if gemm is None else gemm[4]

    return gemm_kernels(lambda a, lhs, rhs: _as_gemm(a, lhs, rhs)[:4], transposes)


@op("_npi_einsum", inputs="", variadic="data", num_args="num_args", uses_types=True, amp="lp16")
class Einsum:
    """Evaluate the Einstein summation convention on the operands.

    `subscripts` names the axes of each operand and of the result, as in ``"ij,jk->ik"``. The
    contraction order is always optimised; `optimize` is ignored.
    """

    num_args: Int
    subscripts: Str = ""
    optimize: Int = 0

    dtypes = ("float32", "float64", "float16", "int32", "bool")
    complexes = True
    samples = (
        sample((2, 3), (3, 4), subscripts="ij,jk->ik", tol=2),
        sample(
            (2, 64, 128),
            (2, 128, 96),
            subscripts="bij,bjk->bik",
            dtypes=("float32",),
            grad=False,
            tol=16,
        ),
        sample((3, 2), (4, 3), subscripts="ji,kj->ik", tol=2),
        sample((2, 3), (3, 4), (4, 2), subscripts="ij,jk,kl", tol=4),
        sample((3, 3), subscripts="ii", tol=2),
        sample((3, 3), subscripts="ii->i"),
        sample((3, 3, 2), subscripts="ii...->...", tol=2),
        sample((2, 3), subscripts="ij->ji"),
        sample((2, 3), subscripts="ij->", tol=2),
        sample((5, 2, 3), (5, 3, 4), subscripts="bij,bjk->bik", tol=2),
        sample((5, 2, 3), (3, 4), subscripts="...ij,jk->...ik", tol=2),
        sample((3,), (4,), subscripts="i,j"),
        sample((2, 3), (1, 3), subscripts="ij,ij->ij"),
        sample((2, 3), (4,), subscripts="ij,k->k", tol=2),
        sample((2, 2), (2, 2), subscripts="ii,jj->ij"),
        sample((), (3,), subscripts=",i->i", dtypes=("float32", "float64")),
        sample((0, 3), (3,), subscripts="ij,j->i", grad=False),
    )

    kernels = _einsum_kernels()
    grad = _einsum_grad

    def infer(a, ins):
        require(len(ins) == a.num_args > 0, f"num_args: expected {a.num_args} operands")
        dtype = PROMOTE(a, *ins)
        if any(spec.shape is None for spec in ins):
            return Spec(None, dtype)
        return Spec(_Sum(a.subscripts, [spec.shape for spec in ins]).shape, dtype)

    def ref(a, xp, arrays):
        return _evaluate(a, xp, arrays)
