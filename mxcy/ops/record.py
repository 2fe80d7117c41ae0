"""Operator records: everything mxcy knows about one operator, in one place.

A record is made by the decorator `op` on a class (or by a family constructor such as `unary`)::

    @op("FullyConnected", aliases=("_npx_fully_connected",), inputs="data weight bias?")
    class FullyConnected:
        '''Docs (numpydoc), shown by mx.nd.FullyConnected and mx.sym.FullyConnected.'''
        num_hidden: Int
        no_bias: Bool = False

        def arguments(a): ...                     # input names that these attributes ask for
        def infer(a, data, weight, bias=None): ... # Specs in, Spec (or a tuple of them) out
        def grad(a, F, g, data, weight): ...      # asks by name for inputs, outputs, out, ...
        def ref(a, xp, data, weight, bias=None): ...  # the definition, for any array module
        kernels = (native("fully_connected", ...),)  # best first; ref is always last
        samples = (sample((2, 3), (4, 3), (4,), num_hidden=4),)

The functions in the class body are plain functions: `a` is the call's `Attrs`, never `self`.
"""

import inspect

from mxcy.base import MXNetError
from mxcy.ops.attrs import REQUIRED, Field, Schema
from mxcy.ops.in_symbols import InSymbols
from mxcy.ops.infer import Spec

__all__ = [
    "Op", "Native", "Sample", "by_onednn", "native", "op", "register", "sample", "values", "stop",
    "find", "MAKERS", "REGISTRY",
]  # fmt: skip

#: every registered name (aliases included) -> Op
REGISTRY: dict[str, "Op"] = {}
#: names of operators whose records depend on the attributes -> ``make(attrs)``, of texts by name
MAKERS: dict = {}


class Native:
    """One native kernel of a record and how to call it; made by `native`."""

    __slots__ = (
        "name", "struct", "params", "when", "workspace", "work", "inplace", "select", "asks",
        "pointwise", "capped",
    )  # fmt: skip

    def __init__(
        self, name, struct, params, when, workspace, work, inplace, select, asks, pointwise, capped
    ):  # fmt: skip
        self.name, self.struct, self.params, self.when = name, struct, params, when
        self.workspace, self.work, self.inplace, self.select = workspace, work, inplace, select
        self.asks, self.pointwise, self.capped = asks, pointwise, capped


def native(
    name, struct=None, params=None, when=None, workspace=None, work=None, inplace=False,
    select=None, asks=False, pointwise=False, capped=False,
):  # fmt: skip
    """Name a kernel of the kernel table for a record.

    Parameters
    ----------
    name : str or callable
        The kernel's name; ``name(a, ins, outs)`` may compute it.
    struct : Params, optional
        The parameter struct. Fields that are dynamic attributes are written at each call.
    params : callable, optional
        ``params(a, ins, outs) -> dict`` of the struct's other fields.
    when : callable, optional
        ``when(a, ins, outs)`` returns a string, the reason for refusing this call, or None.
    workspace : callable, optional
        ``workspace(a, ins, outs) -> bytes`` of scratch memory.
    work : callable, optional
        ``work(a, ins, outs) -> int``, the cost in elementwise steps that decides on threads;
        the largest tensor's size by default.
    inplace : bool or callable
        Whether an output may be the very same memory as any input of its size;
        ``inplace(a, ins, outs)`` names the positions of the inputs that output 0 may take over.
    select : callable, optional
        ``select(ins, outs) -> dtype code`` that picks the kernel's element type; the first input's
        (without inputs: the first output's) by default.
    asks : bool
        Whether the library is asked if the kernel accepts, and how much workspace it needs.
    pointwise : bool, str or callable
        Whether the kernel is a line of elemwise.def (``pointwise(a)`` may tell), so that fused
        programs can do the same; the name of a line stands for its use on all inputs in turn.
    capped : bool
        Whether MXNET_CPU_NNPACK_NTHREADS=1 keeps it to one thread.
    """
    return Native(
        name, struct, params, when, workspace, work, inplace, select, asks, pointwise, capped
    )  # fmt: skip


def by_onednn(kernel, when=None, name=None):
    """oneDNN's counterpart of a native kernel: of the same parameters, where oneDNN accepts.

    Parameters
    ----------
    kernel : Native
    when : callable, optional
        A reason for refusing besides the kernel's own.
    name : str, optional
        ``<kernel>_onednn`` by default.
    """

    def refuse(a, ins, outs):
        reason = kernel.when(a, ins, outs) if kernel.when else None
        return when(a, ins, outs) if reason is None and when else reason

    def named(a, ins, outs):
        own = kernel.name(a, ins, outs) if callable(kernel.name) else kernel.name
        return f"{own}_onednn"

    name = name or (named if callable(kernel.name) else f"{kernel.name}_onednn")
    return native(name, kernel.struct, kernel.params, refuse, work=kernel.work, asks=True)


class Sample:
    """Inputs and attributes with which the battery tries an operator; made by `sample`."""

    __slots__ = ("inputs", "attrs", "dtypes", "grad", "tol", "train")

    def __init__(self, inputs, attrs, dtypes, grad, tol, train):
        self.inputs, self.attrs, self.dtypes = inputs, attrs, dtypes
        self.grad, self.tol, self.train = grad, tol, train


def sample(*inputs, dtypes=None, grad=True, tol=1.0, train=False, **attrs):
    """A sample for the battery.

    Parameters
    ----------
    *inputs : tuple, numpy.ndarray or callable
        A shape (filled from the record's domain), an array, or a function ``rng -> array``
        (see `values`). Arrays given directly keep their dtype.
    dtypes : tuple of str, optional
        Element types to try; the record's by default.
    grad : bool
        Whether the gradient is checked against finite differences for this sample.
    tol : float
        Factor on the battery's tolerances.
    train : bool
        Whether the operator runs in training mode.
    **attrs
        The operator's attributes.
    """
    return Sample(inputs, attrs, dtypes, grad, tol, train)


def values(low, high, shape, dtype=None):
    """A sample input drawn uniformly from [low, high); integers when `dtype` is an integer type."""

    def draw(rng):
        if dtype is not None and dtype.startswith(("int", "uint")):
            return rng.integers(low, high, shape).astype(dtype)
        drawn = rng.uniform(low, high, shape)
        return drawn if dtype is None else drawn.astype(dtype)

    return draw


def stop(a, F, g):
    """The gradient rule of operators through which no gradient flows: all are zero."""
    return None


class Op:
    """One operator. The attributes mirror the parameters of `register`."""

    def __init__(
        self, name, *, fields=(), inputs="data", aliases=(), outputs="output", visible=None,
        mutates=(), variadic=None, num_args=None, uses_mode=False, uses_rng=False, arguments=None,
        infer=None, grad=None, ref=None, kernels=(), samples=(), domain=(-1.0, 1.0),
        dtypes=("float32", "float64"), doc="", names=None, namespaces=None, differentiable=True,
        like_out=(), aux=None, eager=None, infer_back=None,
        forwards=None, epilogue=None, identity=False, ignores=(), repeatable=False, in_symbols=None,
        foreign=None,
    ):  # fmt: skip
        self.name, self.aliases, self.doc = name, tuple(aliases), doc
        self.schema = Schema(fields)
        specs = inputs.split()
        self.inputs = tuple(s.rstrip("?") for s in specs)
        self.optional = frozenset(s.rstrip("?") for s in specs if s.endswith("?"))
        self.variadic, self.num_args = variadic, num_args
        self._outputs = outputs if callable(outputs) else tuple(outputs.split())
        self._visible = visible
        self._mutates = (
            mutates if callable(mutates) else tuple(self.inputs.index(m) for m in mutates)
        )
        self.writes = bool(self._mutates)  # whether there may be such inputs
        # Inputs that symbols list as auxiliary states; those that the operator writes by default.
        self.aux = tuple(mutates if aux is None and not callable(mutates) else aux or ())
        # uses_rng: whether it draws random numbers; uses_rng(a), whether a call does
        self.uses_mode, self.uses_rng, self._draws = uses_mode, bool(uses_rng), uses_rng
        self.like_out = like_out  # attributes that depend on whether out= is given, and on its kind
        # eager(a, F, array, *inputs): for operators whose output's shape depends on values
        self.eager = eager
        # infer_back(a, ins, outs): fills in the input Specs from the outputs', for symbols
        self.infer_back = infer_back
        # For passes: forwards(a), whether output 0 is input 0 itself; epilogue(a), the (act, alpha,
        # beta) as which a fused layer applies the operator, or None (see ops/fused_layer.py).
        self.forwards, self.epilogue = forwards, epilogue
        # identity: the first output has the first input's elements in the same order
        self.identity = identity
        # positions of the inputs of which only shape and dtype matter
        self.ignored = frozenset(self.inputs.index(name) for name in ignores)
        # whether computing it twice makes no difference although it writes variables
        self.repeatable = repeatable
        self.in_symbols = in_symbols or InSymbols()
        # Who runs users' Python code in place of a kernel; see mxcy/custom. Such an operator may
        # do anything, so passes leave its nodes as they are.
        self.foreign = foreign
        self._arguments = arguments
        self._infer, self.ref, self.kernels = infer, ref, tuple(kernels)
        self.samples, self.domain, self.dtypes = samples, domain, dtypes
        self.differentiable = differentiable and grad is not None
        self._grad = grad
        self.grad_needs = self._plan_grad(names or {}) if grad is not None else ()
        self.handles = {}  # front -> its handle for this record

    # --- what a call looks like ---
    def arguments(self, a):
        """The input names that attributes `a` ask for (without variadic inputs)."""
        if self._arguments is not None:
            return tuple(self._arguments(a))
        if "no_bias" in self.schema.by_name and a.no_bias:
            return tuple(n for n in self.inputs if n != "bias")
        return self.inputs

    def outputs(self, a):
        """The names of all outputs, hidden ones included."""
        return tuple(self._outputs(a)) if callable(self._outputs) else self._outputs

    def visible(self, a):
        """How many of the outputs the caller sees."""
        if self._visible is None:
            return len(self.outputs(a))
        return self._visible(a) if callable(self._visible) else self._visible

    def mutated(self, n):
        """The positions of the inputs, among `n`, that the operator writes."""
        if callable(self._mutates):
            return tuple(self._mutates(n))
        return tuple(i for i in self._mutates if i < n)

    def draws(self, a):
        """Whether a call with attributes `a` draws random numbers."""
        return bool(self._draws(a) if callable(self._draws) else self._draws)

    def input_names(self, n):
        """Names for `n` inputs, for messages; variadic inputs are numbered."""
        if self.variadic:
            return tuple(f"{self.variadic}{i}" for i in range(n))
        return self.inputs[:n]

    def listed(self, a):
        """How many outputs symbols' files count."""
        listed = self.in_symbols.listed
        if listed is None:
            return len(self.outputs(a))
        return listed(a) if callable(listed) else listed

    def symbol_outputs(self, a):
        """The endings of the visible outputs' names in symbols."""
        count = self.visible(a)
        if self.in_symbols.named:
            return self.outputs(a)[:count]
        if self.listed(a) == 1:
            return ("output",)
        return tuple(f"output{i}" for i in range(count))

    def symbol_inputs(self, a, n):
        """The names of `n` inputs in symbols, which name the variables made for them."""
        if not self.variadic:
            return self.arguments(a)
        names = self.in_symbols.names
        return tuple(f"arg{i}" for i in range(n)) if names is None else tuple(names(a, n))

    def infer(self, a, ins):
        """Infer output specs from input specs; input specs may be filled in.

        Returns
        -------
        list of Spec
        """
        try:
            out = self._infer(a, ins) if self.variadic else self._infer(a, *ins)
        except MXNetError as error:
            raise MXNetError(f"Error in operator {self.name}: {error}") from None
        return [out] if isinstance(out, Spec) else list(out)

    def pointwise(self, a):
        """The kernel that fused elementwise programs can imitate, or None (see `native`)."""
        for kernel in self.kernels:
            found = kernel.pointwise
            if found(a) if callable(found) else found:
                return kernel
        return None

    # --- gradient ---
    def _plan_grad(self, extra):
        """For each named parameter of the gradient rule: its kind and its index."""
        known = {name: ("in", i) for i, name in enumerate(self.inputs)}
        if not callable(self._outputs):
            for i, name in enumerate(self._outputs):
                known.setdefault(name, ("out", i))
        known.update(out=("out", 0), inputs=("ins", 0), outs=("outs", 0))
        known.update(needs=("needs", 0), specs=("specs", 0))
        known.update(extra)
        parameters = list(inspect.signature(self._grad).parameters)[3:]
        for name in parameters:
            if name not in known:
                raise ValueError(
                    f"{self.name}: the gradient rule asks for {name!r}, not an input or output"
                )
        return tuple(known[name] for name in parameters)

    def grad(self, a, F, g, ins, outs, needs, specs):
        """The gradients of the inputs.

        Parameters
        ----------
        a : Attrs
        F : namespace of operators
        g : array, or a list of arrays (None for hidden outputs) when there are several outputs
        ins, outs : sequences of arrays; only those named by the rule have to be present
        needs : sequence of bool
            Which inputs' gradients are wanted.
        specs : sequence of Spec
            The inputs' shapes and dtypes.

        Returns
        -------
        list of array or None, one per input
        """
        pick = {"in": lambda i: ins[i] if i < len(ins) else None, "out": lambda i: outs[i],
                "ins": lambda i: ins, "outs": lambda i: outs, "needs": lambda i: needs,
                "specs": lambda i: specs}  # fmt: skip
        found = self._grad(a, F, g, *(pick[kind](i) for kind, i in self.grad_needs))
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        # Rules may leave out trailing inputs, or speak of optional ones that this call does not
        # have.
        return (found + [None] * (len(ins) - len(found)))[: len(ins)]

    def __repr__(self):
        return f"<operator {self.name}>"


def register(name, **parts):
    """Make an Op and enter it under its name and aliases; see `Op` for the parts.

    Raises
    ------
    ValueError
        When a name is taken, or the record lacks `infer` or `ref`.
    """
    record = Op(name, **parts)
    if record._infer is None or record.ref is None:
        raise ValueError(f"operator {name} needs infer and ref")
    for known in (record.name, *record.aliases):
        if known in REGISTRY:
            raise ValueError(f"operator name {known} is taken")
        REGISTRY[known] = record
    return record


def op(name, **parts):
    """Class decorator that registers a record; annotated class attributes become the schema."""
    members = (
        "arguments", "infer", "grad", "ref", "kernels", "samples", "domain", "dtypes", "outputs",
        "visible", "eager", "infer_back", "forwards", "epilogue", "in_symbols",
    )  # fmt: skip

    def decorate(body):
        fields = [
            Field(field, kind, body.__dict__.get(field, REQUIRED))
            for field, kind in body.__dict__.get("__annotations__", {}).items()
        ]
        for member in members:
            if member in body.__dict__:
                parts[member] = body.__dict__[member]
        return register(name, fields=fields, doc=inspect.cleandoc(body.__doc__ or ""), **parts)

    return decorate


def find(name):
    """The record of a name or alias.

    Raises
    ------
    MXNetError
        When no operator has that name.
    """
    try:
        return REGISTRY[name]
    except KeyError:
        raise MXNetError(f"operator {name} is not registered") from None
