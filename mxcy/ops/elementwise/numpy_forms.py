"""Registration of `mx.np` elementwise operators from classic kernels and gradient rules.

They differ in dtypes: operands are promoted by a `TypeRule`, and comparisons give booleans. One
call of `numpy_unary` or `numpy_binary` registers all forms of a function.
"""

import inspect

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, Dynamic, Field
from mxcy.ops.core.infer import Spec, broadcast_shapes
from mxcy.ops.core.params import BROADCAST, SCALAR
from mxcy.ops.core.record import Public, find, native, register, sample
from mxcy.ops.core.result_types import row_type
from mxcy.ops.elementwise.broadcast import broadcast_params, refuse_unequal, sum_to
from mxcy.ops.elementwise.cast import cast_back, cast_to

__all__ = ["in_result_type", "numpy_binary", "numpy_unary"]

_ALL = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "bool")
_FLOATS = _ALL[:4]
_INTEGERS = _ALL[4:]
_NAMES = ("lhs", "rhs")
_SCALAR_FIELDS = (Field("scalar", Dynamic(Double), 1.0), Field("is_int", Bool, True))


def _kernel(name, rule, struct=None, params=None, when=None, integers=None, booleans=None):
    """Return an elemwise.def kernel that computes in the dtype given by the rule.

    `integers` and `booleans` name other kernels for these dtypes.
    """

    def chosen(a, ins, outs):
        computed = rule.computed(a, *(spec.dtype for spec in ins))
        if booleans and computed == dtypes.CODES["bool"]:
            return booleans
        return name if dtypes.is_float(computed) else integers or name

    def computes(a, ins, outs):
        operands = [spec.dtype for spec in ins]
        if dtypes.is_complex(operands[0]):
            return operands[0]
        return row_type(rule.computed(a, *operands))

    return native(
        chosen if integers or booleans else name,
        struct,
        params,
        when,
        inplace=True,
        mixed=True,
        computes=computes,
    )


def _reference(rule, define):
    """Return a reference that computes on NumPy arrays in the kernels' dtype."""

    def ref(a, xp, *arrays):
        specs = [Spec(x.shape, dtypes.code_of(x.dtype)) for x in arrays]
        result = dtypes.dtype_of(rule(a, *specs))
        computed = dtypes.dtype_of(rule.computed(a, *(spec.dtype for spec in specs)))
        values = define(a, xp, *(x.astype(computed, copy=False) for x in arrays))
        return xp.asarray(values).astype(result, copy=False)

    return ref


def in_result_type(rule, grad, inputs=("x",)):
    """Adapt a gradient rule for one dtype to operands promoted to the result's dtype.

    Parameters
    ----------
    rule : TypeRule
    grad : callable
        Rule of a classic operator; it gets the inputs cast to the result's dtype, and its gradients
        are cast back. Integers that were promoted to floating-point have no gradient.
    inputs : tuple of str
        Names of the inputs in the rule.
    """
    own = list(inspect.signature(grad).parameters)[3:]
    names = own if "specs" in own else [*own, "specs"]
    place, most = names.index("specs"), len(own)
    same = set()  # cases in which inputs and result have one dtype

    def cast(a, F, g, *asked):
        specs = asked[place]  # one operand or two
        key = (a.numpy_types, getattr(a, "is_int", None), specs[0].dtype, specs[-1].dtype)
        if key in same:  # hot: runs at each step of a backward pass
            return grad(a, F, g, *asked) if most == len(asked) else grad(a, F, g, *asked[:most])
        result = rule(a, *specs)
        if result is None:
            return None
        if all(spec.dtype == result for spec in specs):
            same.add(key)
        arguments = dict(zip(names, asked, strict=True))
        for name, spec in zip(inputs, specs, strict=True):
            if name in arguments:
                arguments[name] = cast_to(F, arguments[name], result, spec.dtype)
        gradients = grad(a, F, g, *(arguments[name] for name in own))
        if gradients is None:
            return None
        pairs = zip(gradients if isinstance(gradients, tuple) else (gradients,), specs, strict=True)
        return tuple(
            gradient if spec.dtype == result else cast_back(F, gradient, spec.dtype, result)
            for gradient, spec in pairs
        )

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    cast.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind) for name in ("a", "F", "g", *names)]
    )
    return cast


def _by_kind(grad, complex_grad):
    """Return a unary gradient rule with a separate rule for complex arrays."""

    def chosen(a, F, g, x, y, specs):
        if dtypes.is_complex(specs[0].dtype):
            return complex_grad(F, g, x)
        arguments = {"x": x, "y": y, "specs": specs}
        return grad(
            a, F, g, *(arguments[name] for name in list(inspect.signature(grad).parameters)[3:])
        )

    return chosen


def _none(a, F, g):
    return None


def numpy_unary(
    names,
    rule,
    like=None,
    kernel=None,
    define=None,
    grad=None,
    domain=None,
    doc=None,
    test_dtypes=_ALL,
    operator=None,
    boolean_kernel=None,
    complexes=False,
    complex_grad=None,
):
    """Register a unary function of `mx.np`.

    Parameters
    ----------
    names : str
        The public names, the first of which names the operator: ``_npi_<name>``.
    rule : TypeRule
    like : str, optional
        Classic operator that provides kernel, gradient rule, domain and doc; by default the one of
        the first name, if it exists, unless `kernel` is given.
    kernel : str, optional
    define : callable, optional
        ``define(xp, x)``; NumPy's own function of the first name by default.
    grad : callable, optional
        A gradient rule ``grad(a, F, g, ...)`` of ``x`` and ``y``.
    domain : (float, float), optional
    doc : str, optional
    test_dtypes : tuple of str
        Dtypes to test.
    operator : str, optional
        Operator name if not ``_npi_<name>``; operators with ``_npx_`` are in `mx.npx`.
    boolean_kernel : str, optional
        Kernel for booleans, if different.
    complexes : bool
        Whether complex arrays are supported.
    complex_grad : callable, optional
        ``complex_grad(F, g, x)``, the rule for complex arrays, if different; see
        `mxcy.ops.core.complex_slopes`.
    """
    first = names.split()[0]
    classic = find(like or first) if kernel is None else None
    if classic is not None:
        kernel, grad = classic.kernels[0].name, grad or classic.grad_rule
        domain, doc = domain or classic.domain, doc or classic.doc
    amp = classic.amp if classic is not None else None
    function = define or (lambda xp, x: getattr(xp, first)(x))
    operator = operator or f"_npi_{first}"
    at_home = operator.startswith("_npx_")  # default: by name
    slope = _none if grad is None else in_result_type(rule, grad)
    return register(
        operator,
        inputs="data" if at_home else "x",
        infer=lambda a, x: Spec(x.shape, rule(a, x)),
        infer_back=lambda a, ins, outs: ins[0].fill("x", outs[0].shape),
        grad=slope if complex_grad is None else _by_kind(slope, complex_grad),
        names={"x": ("in", 0), "y": ("out", 0)},
        ref=_reference(rule, lambda a, xp, x: function(xp, x)),
        kernels=(_kernel(kernel, rule, booleans=boolean_kernel),) if kernel else (),
        samples=(
            sample((3, 4), grad=grad is not None),
            sample((2, 3, 19), grad=False),
            sample((), grad=grad is not None),
            sample((2, 0), grad=False),
        ),
        dtypes=test_dtypes,
        domain=domain or (-1, 1),
        doc=doc,
        uses_types=True,
        complexes=complexes,
        amp=amp,
        numpy=() if at_home else f"{names}(x, out=None, **kwargs)",
    )


def _both(partial, rule, of_integers=True):
    """Return the gradient rule of a mixed-dtype broadcast operator from its partials.

    With `of_integers` False, integers have no gradient, as in MXNet.
    """
    if partial is None:
        return _none
    if not of_integers:
        floating = _both(partial, rule)

        def grad(a, F, g, lhs, rhs, specs):
            if any(dtypes.is_inexact(spec.dtype) for spec in specs):
                return floating(a, F, g, lhs, rhs, specs)
            return None, None

        return grad
    needs = partial.__code__.co_argcount > 2

    def summed(F, gradients, specs):
        left, right = gradients
        if specs[0].shape == specs[1].shape:
            return gradients
        return (
            None if left is None else sum_to(F, left, specs[0], specs[1]),
            None if right is None else sum_to(F, right, specs[1], specs[0]),
        )

    def with_operands(a, F, g, lhs, rhs, specs):
        return summed(F, partial(F, g, lhs, rhs), specs)

    def without(a, F, g, specs):
        return summed(F, partial(F, g), specs)

    return in_result_type(rule, with_operands if needs else without, _NAMES)


def _infer_number(rule):
    return lambda a, data: Spec(data.shape, rule(a, data))


def _number_form(
    name, rule, define, grad, kernel, test_dtypes, domain, number, doc, complexes, amp, factor=None
):
    """Register an operator of an array and a scalar."""
    register(
        name,
        fields=_SCALAR_FIELDS,
        infer=_infer_number(rule),
        infer_back=lambda a, ins, outs: ins[0].fill("data", outs[0].shape),
        grad=_none if grad is None else in_result_type(rule, grad),
        names={"x": ("in", 0), "y": ("out", 0)},
        ref=_reference(rule, lambda a, xp, x: define(xp, x, xp.asarray(a.scalar).astype(x.dtype))),
        kernels=(kernel,),
        domain=domain,
        doc=doc,
        dtypes=test_dtypes,
        uses_types=True,
        complexes=complexes,
        amp=amp if amp == "fp32" else None,
        factor=factor,
        samples=(
            sample((3, 4), scalar=number, is_int=False, grad=grad is not None)
            if "float32" in test_dtypes
            else sample((3, 4), scalar=3, grad=False),
            sample((2, 3, 19), scalar=3.0, grad=False),
            sample((), scalar=2.0, grad=False),
            sample((0,), scalar=2.0, grad=False),
        ),
    )


def _samples_of_two(grad):
    return (
        sample((3, 4), (3, 4), grad=grad),
        sample((3, 1, 5), (4, 1), grad=grad),
        sample((), (2, 3), grad=grad),
        sample((2, 1, 1), (2, 3, 70), grad=False),
        sample((4, 5, 1), (1, 5, 6), grad=False),
        sample((2, 0), (1,), grad=False),
    )


def numpy_binary(
    names,
    rule,
    kernel,
    doc,
    define=None,
    partial=None,
    by_number=None,
    by_number_first=None,
    mirrored=None,
    keywords=True,
    of_integers=True,
    integer_kernel=None,
    test_dtypes=_ALL,
    domain=(-2, 2),
    number=1.5,
    operator=None,
    complexes=False,
    quantized=None,
    amp=None,
    factor=None,
):
    """Register a binary function of `mx.np`, and its forms with a scalar.

    Parameters
    ----------
    names : str
        The public names; the first names the operators ``_npi_<name>``, ``_npi_<name>_scalar`` and
        ``_npi_r<name>_scalar``.
    rule : TypeRule
    kernel : str
        Stem of the kernels' names; the kernel of a scalar and an array is ``r<kernel>_scalar``.
    doc : str
    define : callable, optional
        ``define(xp, x, y)``; NumPy's own function of the first name by default.
    partial : callable, optional
        ``partial(F, g)`` or ``partial(F, g, lhs, rhs)``: the gradients of both operands, before
        summing to their shapes; none if omitted.
    by_number, by_number_first : callable, optional
        Gradient rules ``rule(a, F, g, ...)`` of ``f(x, number)`` and ``f(number, x)``.
    mirrored : str, optional
        Function that is equal with swapped operands, the function itself if commutative. Without it
        there is a separate operator of a scalar and an array.
    keywords : bool
        Whether NumPy's ufunc keywords are supported.
    of_integers : bool
        Whether integers have gradients.
    integer_kernel : str, optional
        Stem of the kernels for integers, if different.
    test_dtypes : tuple of str
        Dtypes to test.
    operator : str, optional
        Operator name after ``_npi_``, if not the first name.
    complexes : bool
        Whether complex arrays are supported.
    quantized : Quantized, optional
        Quantized counterpart.
    amp : str, optional
        Mixed precision category for two arrays; for one array only "fp32" is applied.
    factor : callable, optional
        ``factor(a)``: the factor by which the scalar form multiplies.
    """
    first = names.split()[0]
    stem = operator or first
    function = define or (lambda xp, x, y: getattr(xp, first)(x, y))
    with_number = f"_npi_{stem}_scalar"
    number_first = f"_npi_{mirrored}_scalar" if mirrored else f"_npi_r{stem}_scalar"
    ufunc_keywords = ", **kwargs" if keywords else ""
    common = {"domain": domain, "test_dtypes": test_dtypes, "complexes": complexes, "amp": amp}

    def form(pattern, *parts, **others):
        integers = integer_kernel and pattern.format(integer_kernel)
        return _kernel(pattern.format(kernel), rule, *parts, **others, integers=integers)

    same_shape = form("{}", when=refuse_unequal)
    register(
        f"_npi_{stem}",
        inputs="lhs rhs",
        infer=lambda a, lhs, rhs: Spec(broadcast_shapes(lhs.shape, rhs.shape), rule(a, lhs, rhs)),
        grad=_both(partial, rule, of_integers),
        ref=_reference(rule, lambda a, xp, x, y: function(xp, x, y)),
        kernels=(same_shape, form("{}_broadcast", BROADCAST, broadcast_params)),
        domain=domain,
        dtypes=test_dtypes,
        doc=doc,
        uses_types=True,
        complexes=complexes,
        quantized=quantized,
        amp=amp,
        samples=_samples_of_two(partial is not None),
        numpy=Public(f"{names}(x1, x2, out=None{ufunc_keywords})", with_number, number_first),
    )
    _number_form(
        with_number,
        rule,
        function,
        by_number,
        form("{}_scalar", SCALAR),
        number=number,
        doc=f"{doc} The second operand is a scalar.",
        factor=factor,
        **common,
    )
    if mirrored is None:
        _number_form(
            number_first,
            rule,
            lambda xp, x, s: function(xp, s, x),
            by_number_first,
            form("r{}_scalar", SCALAR),
            number=number,
            doc=f"{doc} The first operand is a scalar.",
            **common,
        )
