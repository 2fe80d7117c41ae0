"""What a record holds: the class of operators.

Records are made by `mxcy.ops.core.record.op`; the parameters of `Op` are what stands in them.
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
    """One operator: how it is called, what it computes, and what others may know of it.

    The functions among the parameters get the attributes of the call first, `a`.

    Parameters
    ----------
    name : str
        The registered name.
    fields : iterable of Field
        The attributes, in the order of the function's parameters.
    inputs : str
        The names of the inputs; a ``?`` behind one says that calls may leave it out.
    aliases : sequence of str
        Further registered names.
    outputs : str or callable
        The names of the outputs, or ``outputs(a)``, which returns them.
    visible : int or callable, optional
        How many of the outputs callers see, or ``visible(a)``; all of them by default.
    mutates : sequence of str, or callable
        Inputs that the operator writes; ``mutates(n)`` returns their positions among `n` inputs.
    variadic : str, optional
        What inputs are called when there may be any number of them.
    num_args : str, optional
        The attribute that counts those inputs.
    uses_mode : bool
        Whether training differs from prediction; ``a.train`` tells which it is.
    uses_types : bool
        Whether its result's element type depends on the thread's policy of types;
        ``a.numpy_types`` tells whether that is NumPy's (see `result_types`).
    uses_rng : bool or callable
        Whether it draws random numbers; ``uses_rng(a)``, whether a call does.
    arguments : callable, optional
        ``arguments(a)``, the names of the inputs that the attributes ask for; all of them by
        default, but no `bias` with ``no_bias``.
    infer : callable
        ``infer(a, *specs)``, of variadic inputs ``infer(a, specs)``: the output's Spec or a tuple
        of them. It raises MXNetError for inputs that do not fit, and may fill in what is unknown.
    grad : callable, optional
        ``grad(a, F, g, ...)``, the gradients of the inputs, written with the operators `F`. The
        names of its further parameters ask for inputs and outputs, or are ``out`` (the first
        output), ``inputs``, ``outs``, ``needs`` and ``specs``; see the method `grad`.
    ref : callable
        ``ref(a, xp, *inputs)``, the definition, for any array module.
    kernels : sequence of Native
        The native kernels, best first; `ref` computes what they refuse.
    samples : sequence of Sample
        What the battery of tests tries.
    domain : (float, float)
        Where the battery draws inputs.
    dtypes : sequence of str
        The element types that the battery tries.
    doc : str
        The docstring of the operator's functions.
    names : dict of str to (str, int), optional
        Further names for `grad` to ask by, such as ``{"x": ("in", 0)}``.
    like_out : sequence of str
        Attributes that depend on whether ``out=`` is given, and on its kind.
    aux : sequence of str, optional
        Inputs that symbols list as auxiliary states; by default those that it writes.
    eager : callable, optional
        ``eager(a, F, array, *inputs)`` computes an output whose shape depends on values.
    infer_back : callable, optional
        ``infer_back(a, ins, outs)`` fills in the Specs of inputs from the outputs', for symbols.
    forwards : callable, optional
        ``forwards(a)``, whether output 0 is input 0 itself.
    epilogue : callable, optional
        ``epilogue(a)``, the (act, alpha, beta) as which a fused layer applies it, or None.
    layer : Layer, optional
        How it is computed together with what follows it.
    quantized : Quantized, optional
        Which operator computes it among 8-bit integers.
    out_range : callable, optional
        ``out_range(a, ranges, ins, outs)``: the (minimum, maximum) of a quantized result, where
        attributes and the `ranges` of its inputs (None where unknown) tell it; else None.
    factor : callable, optional
        ``factor(a)``, the number by which it multiplies its input, or None.
    identity : bool
        Whether the first output has the first input's elements in the same order.
    ignores : sequence of str
        Inputs of which only shape and dtype matter.
    repeatable : bool
        Whether computing it twice makes no difference although it writes variables.
    in_symbols : InSymbols, optional
        Its habits in symbols and their files.
    foreign : object, optional
        Who runs users' Python code in place of a kernel, see `mxcy.custom`. Such an operator may
        do anything, so passes leave its nodes as they are.
    stypes : iterable of Rule
        What to do with sparse arrays.
    sparse_gradient : callable, optional
        ``sparse_gradient(a)``, whether a gradient is sparse although all inputs are dense.
    complexes : bool or str
        Whether it takes and returns complex numbers; every other record refuses them.
    numpy : str, Public, or a tuple of them
        Under which names and with which signatures `mx.np` and `mx.npx` offer it; see `Public`.
    onnx : callable, optional
        ``onnx(a, G, *inputs)``, the same in operators of ONNX; those of most records come from
        `mxcy.onnx.mx2onnx.converters` when a graph is first exported.
    amp : str or Precision, optional
        What mixed precision does with it; see `mxcy.ops.core.precision.read`.
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
        "factor",
        "identity",
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
        aux: Sequence[str] | None = None,
        eager: Callable[..., Any] | None = None,
        infer_back: Callable[..., Any] | None = None,
        forwards: Callable[..., bool] | None = None,
        epilogue: Callable[..., tuple[str, float, float] | None] | None = None,
        layer: Layer | None = None,
        quantized: Quantized | None = None,
        out_range: Callable[..., tuple[float, float] | None] | None = None,
        factor: Callable[..., float | None] | None = None,
        identity: bool = False,
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
        self.writes = bool(self._mutates)  # whether there may be inputs that it writes
        self.aux = tuple(aux or () if callable(mutates) or aux is not None else mutates)
        self.uses_mode, self.uses_types, self._draws = uses_mode, uses_types, uses_rng
        self.uses_rng = bool(uses_rng)
        self.like_out, self.eager, self.infer_back = like_out, eager, infer_back
        self.forwards, self.epilogue, self.layer, self.factor = forwards, epilogue, layer, factor
        self.quantized, self.out_range = quantized, out_range
        self.identity, self.repeatable, self.complexes = identity, repeatable, complexes
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

    # --- what a call looks like ---
    def arguments(self, a: Attrs) -> tuple[str, ...]:
        """The input names that attributes `a` ask for (without variadic inputs)."""
        if self._arguments is not None:
            return tuple(self._arguments(a))
        if "no_bias" in self.schema.by_name and a.no_bias:
            return tuple(n for n in self.inputs if n != "bias")
        return self.inputs

    def outputs(self, a: Attrs) -> tuple[str, ...]:
        """The names of all outputs, hidden ones included."""
        if not callable(self._outputs):
            return self._outputs
        try:
            return tuple(self._outputs(a))
        except MXNetError as error:
            raise MXNetError(f"Error in operator {self.name}: {error}") from None

    def visible(self, a: Attrs) -> int:
        """How many of the outputs the caller sees."""
        if self._visible is None:
            return len(self.outputs(a))
        return self._visible(a) if callable(self._visible) else self._visible

    def mutated(self, n: int) -> tuple[int, ...]:
        """The positions of the inputs, among `n`, that the operator writes."""
        if callable(self._mutates):
            return tuple(self._mutates(n))
        return tuple(i for i in self._mutates if i < n)

    def draws(self, a: Attrs) -> bool:
        """Whether a call with attributes `a` draws random numbers."""
        return bool(self._draws(a) if callable(self._draws) else self._draws)

    def input_names(self, n: int) -> tuple[str, ...]:
        """Names for `n` inputs, for messages; variadic inputs are numbered."""
        if self.variadic:
            return tuple(f"{self.variadic}{i}" for i in range(n))
        return self.inputs[:n]

    def listed(self, a: Attrs) -> int:
        """How many outputs symbols' files count."""
        listed = self.in_symbols.listed
        if listed is None:
            return len(self.outputs(a))
        return listed(a) if callable(listed) else listed

    def symbol_outputs(self, a: Attrs) -> tuple[str, ...]:
        """The endings of the visible outputs' names in symbols."""
        count = self.visible(a)
        if self.in_symbols.named:
            return self.outputs(a)[:count]
        if self.listed(a) == 1:
            return ("output",)
        return tuple(f"output{i}" for i in range(count))

    def symbol_inputs(self, a: Attrs, n: int) -> tuple[str, ...]:
        """The names of `n` inputs in symbols, which name the variables made for them."""
        if not self.variadic:
            return self.arguments(a)
        names = self.in_symbols.names
        return tuple(f"arg{i}" for i in range(n)) if names is None else tuple(names(a, n))

    def infer(self, a: Attrs, ins: Sequence[Spec]) -> list[Spec]:
        """Infer output specs from input specs; input specs may be filled in.

        Returns
        -------
        list of Spec

        Raises
        ------
        MXNetError
            When the inputs do not fit each other or the attributes; it names the operator. An
            `UnforeseenError` where the rule broke instead of refusing them.
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
        """The shape of the first input, where another one does not fit to it."""
        if not isinstance(error, ShapeError) or self.variadic or ins[0].shape is None:
            return ""
        name, shape = self.arguments(a)[0], str(ins[0].shape)
        is_named = shape in str(error) or str(error).startswith(f"argument {name}:")
        return "" if is_named else f"; {name} has shape {shape}"

    def _check_count(self, a: Attrs, n: int) -> None:
        """Refuse another number of inputs than the attributes ask for."""
        names = self.arguments(a)
        if not self.variadic and n != len(names):
            raise MXNetError(f"expected {len(names)} inputs ({', '.join(names)}), got {n}")

    def pointwise(self, a: Attrs) -> Native | None:
        """The kernel that fused elementwise programs can imitate, or None (see `Native`)."""
        for kernel in self.kernels:
            line = kernel.pointwise
            if line(a) if callable(line) else line:
                return kernel
        return None

    # --- gradient ---
    @property
    def grad_needs(self) -> tuple[tuple[str, int], ...]:
        """For each named parameter of the gradient rule: its kind and its index."""
        if self._grad_needs is None:  # of most operators a program never asks
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
        if self.complexes:
            ins, outs = conjugated(self, a, F, ins, outs, specs)
        whole, asked = {"ins": ins, "outs": outs, "needs": needs, "specs": specs}, []
        for kind, i in self.grad_needs:
            if kind == "in":
                asked.append(ins[i] if i < len(ins) else None)
            else:
                asked.append(outs[i] if kind == "out" else whole[kind])
        rule = self.grad_rule(a, F, g, *asked)
        gradients = list(rule) if isinstance(rule, (tuple, list)) else [rule]
        # Rules may leave out trailing inputs, or speak of optional ones that a call does not have.
        return (gradients + [None] * (len(ins) - len(gradients)))[: len(ins)]

    def __repr__(self) -> str:
        return f"<operator {self.name}>"
