"""The class of operator records.

Records are created by `mxcy.ops.core.record.op` with the parameters of `Op`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mxcy._base.errors import InvalidValueError, MXNetError, ShapeError
from mxcy.ops.core.attrs import Attrs, Field, Schema
from mxcy.ops.core.complex_slopes import conjugated
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, UnforeseenError, refuse_complex
from mxcy.ops.core.kernel import Native
from mxcy.ops.core.layer import Layer
from mxcy.ops.core.precision import Precision, read
from mxcy.ops.core.public import Public
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.rules import needs_of, no_rule, refusing
from mxcy.ops.core.samples import Sample
from mxcy.ops.core.stypes import Rule, flat

__all__ = ["Op"]


class Op:
    """An operator: its interface, its computation and its properties.

    Functions among the parameters receive the call's attributes, `a`, as first argument.

    Parameters
    ----------
    name : str
        The registered name.
    fields : iterable of Field
        Attributes in the order of the function's parameters.
    inputs : str
        Names of the inputs; a trailing ``?`` marks optional ones.
    aliases : sequence of str
        Additional registered names.
    outputs : str or callable
        Names of the outputs, or ``outputs(a)``.
    visible : int or callable, optional
        Number of outputs visible to callers, or ``visible(a)``; by default all.
    mutates : sequence of str, or callable
        Inputs that the operator writes, or ``mutates(n)``, their positions among `n` inputs.
    variadic : str, optional
        Name of the inputs if there may be any number of them.
    num_args : str, optional
        The attribute that counts those inputs.
    uses_mode : bool
        Whether training differs from prediction, given by ``a.train``.
    uses_types : bool
        Whether the result's dtype depends on the thread's type rules, ``a.numpy_types``.
    uses_rng : bool or callable
        Whether it draws random numbers, or ``uses_rng(a)``.
    arguments : callable, optional
        ``arguments(a)``: names of the required inputs, by default all but `bias` with ``no_bias``.
    infer : callable
        ``infer(a, *specs)``, for variadic inputs ``infer(a, specs)``: the Spec of the output or a
        tuple of them. Raises MXNetError for inconsistent inputs, and may complete unknown specs.
    grad : callable, optional
        ``grad(a, F, g, ...)``: the gradients of the inputs, composed of operators `F`. Further
        parameters are named after inputs and outputs that it needs, or ``out`` (the first output),
        ``inputs``, ``outs``, ``needs`` and ``specs``; see the method `grad`.
    ref : callable
        ``ref(a, xp, *inputs)``: the definition, for any array module.
    kernels : sequence of Native
        Native kernels, best first; `ref` computes calls that all of them reject.
    samples : sequence of Sample
        Calls for the test battery.
    domain : (float, float)
        Range of the battery's random inputs.
    dtypes : sequence of str
        Dtypes for the test battery.
    doc : str
        Docstring of the operator's functions.
    names : dict of str to (str, int), optional
        Additional parameter names for `grad`, such as ``{"x": ("in", 0)}``.
    like_out : sequence of str
        Attributes whose default depends on ``out=``.
    aux : sequence of str, or callable, optional
        Auxiliary states in symbols, by default the inputs it writes; or ``aux(a)``, positions.
    eager : callable, optional
        ``eager(a, F, array, *inputs)``: computes an output with value-dependent shape.
    infer_back : callable, optional
        ``infer_back(a, ins, outs)``: completes input Specs from output Specs, for symbols.
    forwards : callable, optional
        ``forwards(a)``: whether output 0 is input 0 itself.
    epilogue : callable, optional
        ``epilogue(a)``: the (act, alpha, beta) by which a fused layer applies it, or None.
    layer : Layer, optional
        Its fusion with subsequent operators.
    quantized : Quantized, optional
        Its int8 counterpart.
    out_range : callable, optional
        ``out_range(a, ranges, ins, outs)``: (minimum, maximum) of a quantized result, or None.
    moves_like : Op, optional
        The float operator that moves the elements of its only input as this int8 operator does.
    factor : callable, optional
        ``factor(a)``: the scalar by which it multiplies its input, or None.
    identity : bool
        Whether the first output has the elements of the first input in the same order.
    joins : callable, optional
        ``joins(a, ins, outs)``: whether output 0 is the inputs, one after the other in memory.
    batched : callable, optional
        ``batched(a, ins)``: the inputs whose samples (first axis) are all that a sample needs.
    ignores : sequence of str
        Inputs of which only shape and dtype are used.
    repeatable : bool
        Whether recomputing it is harmless although it writes variables.
    in_symbols : InSymbols, optional
        Its properties in symbols and their files.
    foreign : object, optional
        Runner of users' Python code, see `mxcy.custom`; passes keep its nodes for side effects.
    stypes : iterable of Rule
        Rules for sparse arrays.
    sparse_gradient : callable, optional
        ``sparse_gradient(a)``: whether a gradient of dense inputs is sparse.
    complexes : bool or str
        Whether it supports complex numbers, which are rejected otherwise.
    numpy : str, Public, or a tuple of them
        Names and signatures in `mx.np` and `mx.npx`; see `Public`.
    onnx : callable, optional
        ``onnx(a, G, *inputs)``: its expression by ONNX operators, often set at the first export.
    amp : str or Precision, optional
        Its class under mixed precision; see `mxcy.ops.core.precision.read`.
    """

    __slots__ = (
        "name",
        "aliases",
        "doc",
        "schema",
        "inputs",
        "optional",
        "variadic",
        "num_args",
        "writes",
        "aux",
        "stateful",
        "uses_mode",
        "uses_types",
        "uses_rng",
        "like_out",
        "eager",
        "infer_back",
        "forwards",
        "epilogue",
        "layer",
        "quantized",
        "out_range",
        "moves_like",
        "factor",
        "identity",
        "joins",
        "batched",
        "ignored",
        "repeatable",
        "in_symbols",
        "foreign",
        "stypes",
        "sparse_gradient",
        "complexes",
        "numpy",
        "onnx",
        "amp",
        "ref",
        "kernels",
        "samples",
        "domain",
        "dtypes",
        "differentiable",
        "_grad_needs",
        "_grad_names",
        "handles",
        "_outputs",
        "_visible",
        "_mutates",
        "_states",
        "_draws",
        "_arguments",
        "_infer",
        "grad_rule",
    )

    def __init__(
        self,
        name: str,
        *,
        fields: Iterable[Field] = (),
        inputs: str = "data",
        aliases: Sequence[str] = (),
        outputs: str | Callable[..., Sequence[str]] = "output",
        visible: int | Callable[..., int] | None = None,
        mutates: Sequence[str] | Callable[[int], Iterable[int]] = (),
        variadic: str | None = None,
        num_args: str | None = None,
        uses_mode: bool = False,
        uses_types: bool = False,
        uses_rng: bool | Callable[..., bool] = False,
        arguments: Callable[..., Iterable[str]] | None = None,
        infer: Callable[..., Any] | None = None,
        grad: Callable[..., Any] | None = None,
        ref: Callable[..., Any] | None = None,
        kernels: Sequence[Native] = (),
        samples: Sequence[Sample] = (),
        domain: tuple[float, float] = (-1.0, 1.0),
        dtypes: Sequence[str] = ("float32", "float64"),
        doc: str = "",
        names: dict[str, tuple[str, int]] | None = None,
        like_out: Sequence[str] = (),
        aux: Sequence[str] | Callable[..., Sequence[int]] | None = None,
        eager: Callable[..., Any] | None = None,
        infer_back: Callable[..., Any] | None = None,
        forwards: Callable[..., bool] | None = None,
        epilogue: Callable[..., tuple[str, float, float] | None] | None = None,
        layer: Layer | None = None,
        quantized: Quantized | None = None,
        out_range: Callable[..., tuple[float, float] | None] | None = None,
        moves_like: "Op | None" = None,
        factor: Callable[..., float | None] | None = None,
        identity: bool = False,
        joins: Callable[..., bool] | None = None,
        batched: Callable[..., Iterable[int]] | None = None,
        ignores: Sequence[str] = (),
        repeatable: bool = False,
        in_symbols: InSymbols | None = None,
        foreign: Any = None,
        stypes: Iterable[Rule | tuple[Rule, ...]] = (),
        sparse_gradient: Callable[..., bool] | None = None,
        complexes: bool | str = False,
        numpy: str | Public | Sequence[str | Public] = (),
        onnx: Callable[..., Any] | None = None,
        amp: str | Precision | None = None,
    ) -> None:
        self.name, self.aliases, self.doc = name, tuple(aliases), doc
        self.schema = Schema(fields)
        specs = inputs.split()
        self.inputs = tuple(s.rstrip("?") for s in specs)
        self.optional = frozenset(s.rstrip("?") for s in specs if s.endswith("?"))
        self.variadic, self.num_args = variadic, num_args
        self._outputs = outputs if callable(outputs) else tuple(outputs.split())
        self._visible, self._arguments = visible, arguments
        self._mutates = mutates if callable(mutates) else tuple(map(self.inputs.index, mutates))
        self.writes = bool(self._mutates)  # whether it may write inputs
        self._states = aux if callable(aux) else None
        named = () if callable(aux) else aux
        self.aux = tuple(named or () if callable(mutates) or named is not None else mutates)
        self.stateful = bool(self.aux) or self._states is not None  # in symbols
        self.uses_mode, self.uses_types, self._draws = uses_mode, uses_types, uses_rng
        self.uses_rng = bool(uses_rng)
        self.like_out, self.eager, self.infer_back = like_out, eager, infer_back
        self.forwards, self.epilogue, self.layer, self.factor = forwards, epilogue, layer, factor
        self.quantized, self.out_range, self.moves_like = quantized, out_range, moves_like
        self.identity, self.joins, self.batched = identity, joins, batched
        self.repeatable, self.complexes = repeatable, complexes
        self.ignored = frozenset(map(self.inputs.index, ignores))  # positions
        self.in_symbols = in_symbols or InSymbols()
        self.foreign, self.stypes = foreign, flat(stypes)
        self.sparse_gradient: Callable[..., bool] = sparse_gradient or (lambda a: False)
        offered = (numpy,) if isinstance(numpy, str | Public) else numpy
        self.numpy = tuple(Public(p) if isinstance(p, str) else p for p in offered)
        self.onnx: Any = onnx
        self.amp = read(amp, name)
        self.ref, self.kernels = ref, tuple(kernels)
        self.samples, self.domain, self.dtypes = samples, domain, dtypes
        self._infer: Any = infer
        self.grad_rule: Any = refusing(name) if grad is no_rule else grad
        self.differentiable = grad is not None
        self._grad_names = names or {}
        self._grad_needs: tuple[tuple[str, int], ...] | None = None if grad else ()
        self.handles: dict[str, Any] = {}  # front -> its handle for this record

    # --- interface ---
    def arguments(self, a: Attrs) -> tuple[str, ...]:
        """The names of the inputs for attributes `a`, without variadic ones."""
        if self._arguments is not None:
            return tuple(self._arguments(a))
        if "no_bias" in self.schema.by_name and a.no_bias:
            return tuple(n for n in self.inputs if n != "bias")
        return self.inputs

    def outputs(self, a: Attrs) -> tuple[str, ...]:
        """The names of all outputs, including hidden ones."""
        if not callable(self._outputs):
            return self._outputs
        try:
            return tuple(self._outputs(a))
        except MXNetError as error:
            raise MXNetError(f"Error in operator {self.name}: {error}") from None

    def visible(self, a: Attrs) -> int:
        """The number of visible outputs."""
        if self._visible is None:
            return len(self.outputs(a))
        return self._visible(a) if callable(self._visible) else self._visible

    def mutated(self, n: int) -> tuple[int, ...]:
        """The positions of the inputs written by the operator, among `n`."""
        if callable(self._mutates):
            return tuple(self._mutates(n))
        return tuple(i for i in self._mutates if i < n)

    def states(self, a: Attrs) -> tuple[int, ...]:
        """The positions of the inputs that are auxiliary states in symbols."""
        if self._states is not None:
            return tuple(self._states(a))
        names = self.arguments(a)
        return tuple(names.index(name) for name in self.aux if name in names)

    def draws(self, a: Attrs) -> bool:
        """Whether a call with attributes `a` draws random numbers."""
        return bool(self._draws(a) if callable(self._draws) else self._draws)

    def input_names(self, n: int) -> tuple[str, ...]:
        """The names of `n` inputs for messages; variadic inputs are numbered."""
        if self.variadic:
            return tuple(f"{self.variadic}{i}" for i in range(n))
        return self.inputs[:n]

    def listed(self, a: Attrs) -> int:
        """The number of outputs in symbols' files."""
        listed = self.in_symbols.listed
        if listed is None:
            return len(self.outputs(a))
        return listed(a) if callable(listed) else listed

    def symbol_outputs(self, a: Attrs) -> tuple[str, ...]:
        """The name suffixes of visible outputs in symbols."""
        count = self.visible(a)
        if self.in_symbols.named:
            return self.outputs(a)[:count]
        if self.listed(a) == 1:
            return ("output",)
        return tuple(f"output{i}" for i in range(count))

    def symbol_inputs(self, a: Attrs, n: int) -> tuple[str, ...]:
        """The names of `n` inputs in symbols, used for automatically created variables."""
        if not self.variadic:
            return self.arguments(a)
        names = self.in_symbols.names
        return tuple(f"arg{i}" for i in range(n)) if names is None else tuple(names(a, n))

    def infer(self, a: Attrs, ins: Sequence[Spec]) -> list[Spec]:
        """Infer output specs from input specs, which may be completed.

        Returns
        -------
        list of Spec

        Raises
        ------
        MXNetError
            If inputs or attributes are inconsistent, naming the operator. An `UnforeseenError` if
            the rule crashed instead of rejecting them.
        """
        try:
            self._check_count(a, len(ins))
            refuse_complex(self, ins)
            out = self._infer(a, ins) if self.variadic else self._infer(a, *ins)
            outs = [out] if isinstance(out, Spec) else list(out)
            refuse_complex(self, outs)
        except UnforeseenError:
            raise
        except MXNetError as error:
            kept = isinstance(error, (InvalidValueError, ShapeError))
            kind = type(error) if kept else MXNetError
            text = f"Error in operator {self.name}: {error}{self._beside(a, ins, error)}"
            raise kind(text) from None
        except Exception as error:
            raise UnforeseenError(self.name, ins, error) from error
        return outs

    def _beside(self, a: Attrs, ins: Sequence[Spec], error: MXNetError) -> str:
        """For error messages, the shape of the first input if another one contradicts it."""
        if not isinstance(error, ShapeError) or self.variadic or ins[0].shape is None:
            return ""
        name, shape = self.arguments(a)[0], str(ins[0].shape)
        is_named = shape in str(error) or str(error).startswith(f"argument {name}:")
        return "" if is_named else f"; {name} has shape {shape}"

    def _check_count(self, a: Attrs, n: int) -> None:
        """Check the number of inputs."""
        names = self.arguments(a)
        if not self.variadic and n != len(names):
            raise MXNetError(f"expected {len(names)} inputs ({', '.join(names)}), got {n}")

    def pointwise(self, a: Attrs) -> Native | None:
        """The kernel that can be a step of fused programs, or None (see `Native`)."""
        for kernel in self.kernels:
            line = kernel.pointwise
            if line(a) if callable(line) else line:
                return kernel
        return None

    # --- gradient ---
    @property
    def grad_needs(self) -> tuple[tuple[str, int], ...]:
        """The kind and index of each named parameter of the gradient rule."""
        if self._grad_needs is None:  # lazily, as programs use few gradients
            outputs = () if callable(self._outputs) else self._outputs
            self._grad_needs = needs_of(
                self.name, self.grad_rule, self.inputs, outputs, self._grad_names
            )
        return self._grad_needs

    def grad(
        self,
        a: Attrs,
        F: Any,
        g: Any,
        ins: Sequence[Any],
        outs: Sequence[Any],
        needs: Sequence[bool],
        specs: Sequence[Spec],
    ) -> list[Any]:
        """Compute the gradients of the inputs.

        Parameters
        ----------
        a : Attrs
        F : namespace of operators
        g : array, or a list of arrays (None for hidden outputs) when there are several outputs
        ins, outs : sequences of arrays; only those named by the rule have to be present
        needs : sequence of bool
            Which inputs require gradients.
        specs : sequence of Spec
            The inputs' shapes and dtypes.

        Returns
        -------
        list of array or None, one per input
        """
        if self.complexes:
            ins, outs = conjugated(self, a, F, ins, outs, specs)
        keywords, asked = {"ins": ins, "outs": outs, "needs": needs, "specs": specs}, []
        for kind, i in self.grad_needs:
            if kind == "in":
                asked.append(ins[i] if i < len(ins) else None)
            else:
                asked.append(outs[i] if kind == "out" else keywords[kind])
        rule = self.grad_rule(a, F, g, *asked)
        gradients = list(rule) if isinstance(rule, (tuple, list)) else [rule]
        # Rules may omit trailing inputs, or return gradients of missing optional ones.
        return (gradients + [None] * (len(ins) - len(gradients)))[: len(ins)]

    def __repr__(self) -> str:
        return f"<operator {self.name}>"
