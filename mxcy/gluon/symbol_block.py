"""Blocks made from symbols, such as those of exported models."""

import os.path

from mxcy import symbol as sym
from mxcy._base import dtypes
from mxcy._base.suggestions import did_you_mean
from mxcy.gluon.cached_graph import check_arrays
from mxcy.gluon.graph_calls import Traced, infer_parameters
from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.parameter_dict import ParameterDict
from mxcy.gluon.tracing import Trace, flatten, regroup, same_structure
from mxcy.ndarray import NDArray
from mxcy.symbol import Symbol
from mxcy.symbol.inference import partial_specs

__all__ = ["SymbolBlock"]


class SymbolBlock(HybridBlock):
    """A block that computes a symbol; variables that are not inputs become parameters.

    Parameters
    ----------
    outputs : Symbol or list of Symbol
        The outputs to compute.
    inputs : Symbol or list of Symbol
        The variables that are inputs of a call.
    params : ParameterDict, optional
        Parameters to share, by the variables' names.
    """

    def __init__(self, outputs, inputs, params=None):
        super().__init__()
        self._prefix = ""  # parameters have the symbol's names
        self._params = ParameterDict("", params)
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        flat, form = flatten(outputs)
        variables, in_form = flatten([inputs] if isinstance(inputs, Symbol) else inputs)
        self._symbol = flat[0] if len(flat) == 1 else sym.Group(flat)
        self._names = [variable.name for variable in variables]
        for variable in variables:
            assert (
                len(variable.list_inputs()) == 1 and variable.list_inputs()[0] == variable.name
            ), f"SymbolBlock: inputs must be variables, but {variable.name} is an operator's output"
        _refuse_sparse(self._symbol)
        specs = partial_specs(self._symbol, {})
        states = self._symbol.list_auxiliary_states()
        own = {}
        # States last, as in MXNet: the order determines the random initial values.
        for name in (*self._symbol.list_arguments(), *states):
            if name in self._names:
                continue
            spec = specs[name]
            shape = None if spec.shape is None else tuple(max(n, 0) for n in spec.shape)
            own[name] = self.params.get(
                name,
                grad_req="null" if name in states else "write",
                shape=shape,
                dtype="float32" if spec.dtype is None else dtypes.name_of(spec.dtype),
                allow_deferred_init=True,
            )
        # MXNet 1.x strips the common prefix of all names from structural names.
        shared = 0 if self._follows_mxnet_2() else len(os.path.commonprefix(list(own)))
        self._reg_params = {name[shared:]: parameter for name, parameter in own.items()}
        self._trace = Trace(self._symbol, form, self._names, own, in_form)
        self._traced = None

    def __repr__(self):
        kinds = f"{len(self._names)} -> {len(self._symbol.list_outputs())}"
        return f"{type(self).__name__}(\n{self._symbol!r} : {kinds}\n)"

    @staticmethod
    def imports(
        symbol_file,
        input_names,
        param_file=None,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        *,
        device=None,
    ):
        """Load a block from files written by `HybridBlock.export` or `Module.save_checkpoint`.

        Parameters
        ----------
        symbol_file : str
            The graph.
        input_names : str or list of str
            Names of the input variables.
        param_file : str, optional
            The parameters.
        ctx : Context or list of Context, optional
            Contexts of the parameters; the CPU by default.
        allow_missing, ignore_extra : bool
            Accept a file that lacks parameters, or has additional ones.
        device : Context or list of Context, optional
            Alias of `ctx`.

        Returns
        -------
        SymbolBlock
        """
        names = [input_names] if isinstance(input_names, str) else input_names
        graph = sym.load(symbol_file)
        block = SymbolBlock(graph, [sym.var(name) for name in names])
        if param_file is not None:
            try:
                block.collect_params().load(
                    param_file,
                    ctx or device,
                    allow_missing,
                    ignore_extra,
                    cast_dtype=True,
                    dtype_source="saved",
                )
            except AssertionError as error:
                raise AssertionError(f"{error} {_inputs_told(names, graph)}") from None
        return block

    def infer_shape(self, *args):
        """Set the unknown shapes of the parameters from inputs; see `HybridBlock.infer_shape`."""
        infer_parameters(*self._traced_for(args))

    def _traced_for(self, args):
        return self._trace, flatten(args)[0]

    def _only_trace(self):
        return self._trace if self._traced is None else self._traced.trace

    def _only_traced(self):
        return self._traced

    def _get_graph(self, *args):
        return self._cached_graph

    def _clear_cached_op(self):
        super()._clear_cached_op()
        self._traced = None

    @property
    def _in_format(self):
        """list: how the inputs are nested; settable, for programs that serialize blocks."""
        return self._trace.in_form

    @_in_format.setter
    def _in_format(self, form):
        self._trace.in_form = form

    @property
    def _out_format(self):
        """int or list: how the outputs are nested; settable, for programs that serialize blocks."""
        return self._trace.form

    @_out_format.setter
    def _out_format(self, form):
        self._trace.form = form

    def _evaluate(self, args):
        return self.forward(*args)

    def forward(self, x, *args):
        """Compute the outputs; for symbols return a symbol.

        Parameters
        ----------
        x, *args : NDArray or Symbol
            The inputs.

        Raises
        ------
        ValueError
            If they are not nested like the inputs of the symbol.
        """
        flat, form = flatten((x, *args))
        if not same_structure(form, self._trace.in_form):
            raise ValueError(
                f"SymbolBlock: expected {len(self._names)} inputs ({', '.join(self._names)}) with "
                f"the structure {self._trace.in_form}, got {len(flat)} with the structure {form}"
            )
        check_arrays(self, flat)
        if isinstance(flat[0], NDArray):
            if self._traced is None:
                options = {
                    "inline_limit": 0,
                    "static_alloc": self._flags.get("static_alloc", False),
                }
                trace = self._trace.partitioned(self._flags.get("backend"))
                self._traced = Traced(trace, options)
                return self._first_run(flat)
            return self._traced.run(flat, self._op_hook)
        composed = self._symbol(**dict(zip(self._names, flat, strict=True)))
        return composed if self._out_format == 0 else regroup(list(composed), self._out_format)

    def _first_run(self, flat):
        """Run, and infer parameters, of which a misspelled input makes one without a shape."""
        try:
            return self._traced.run(flat, self._op_hook)
        except AssertionError as error:
            self._traced = None
            raise AssertionError(f"{error} {_inputs_told(self._names, self._symbol)}") from None

    def hybridize(self, active=True, **kwargs):
        """Set the options of the graph; the block always runs as a graph."""
        super().hybridize(active, **kwargs)
        self._traced = None


def _refuse_sparse(symbol):
    """Check that the symbol's parameters are dense, as blocks require.

    Raises
    ------
    AssertionError
    """
    row_sparse = str(dtypes.STORAGE_TYPES["row_sparse"])
    for name, attributes in symbol.attr_dict().items():
        assert attributes.get("__storage_type__") != row_sparse, (
            f"SymbolBlock: parameters must be dense, but the storage of {name} is row_sparse"
        )


def _inputs_told(names, graph):
    """Hint for a missing parameter that may be an undeclared input."""
    known = graph.list_inputs()
    strange = [name for name in names if name not in known]
    if not strange:
        return (
            f"Inputs are {', '.join(names)}; list every other variable that is not a parameter "
            "in input_names."
        )
    unknown = ", ".join(f"{name!r}{did_you_mean(name, known)}" for name in strange)
    return f"The graph has no input {unknown}"
