"""The arrays of a parameter, one per context."""

from mxcy import autograd, kvstore
from mxcy import ndarray as nd
from mxcy._library import front
from mxcy.context import as_context, as_contexts, cpu
from mxcy.gluon.recorded_trace import traced_view
from mxcy.gluon.utils import DeferredInitializationError

__all__ = ["DeferredInitializationError", "ParameterArrays", "assignments", "with_stype"]


class _Assignments:
    """A descriptor that counts an attribute's assignments; reading the attribute costs nothing."""

    def __init__(self):
        self.count = 0

    def __set_name__(self, owner, name):
        self._name = name

    def __set__(self, instance, value):
        instance.__dict__[self._name] = value
        self.count += 1


#: of the arrays of all parameters in the process
assignments = _Assignments()


class ParameterArrays:
    """Mixin of `Parameter` that returns, sets, moves and casts its arrays and gradients.

    `_data` and `_grad` are lists with one array per context of `_ctx_list`, or None;
    `_deferred_init` holds the arguments of a deferred initialization, or None.
    """

    _data = assignments

    def _arrays(self, arrays):
        """Return `arrays`, or raise an error that explains why there are none."""
        if arrays is not None:
            return arrays
        if self._deferred_init is not None:
            raise DeferredInitializationError(
                f"Parameter '{self.name}' has not been initialized yet because initialization was "
                "deferred: its shape becomes known during the first forward pass. Pass one batch "
                "of data through the network before accessing Parameters, or specify in_units, "
                "in_channels, etc. of the layers."
            )
        raise RuntimeError(
            f"Parameter '{self.name}' has not been initialized. Note that you should initialize "
            "parameters and create Trainer with Block.collect_params() instead of Block.params "
            "because the latter does not include Parameters of nested child Blocks"
        )

    def _check_and_get(self, arrays, ctx):
        if arrays is None:
            arrays = self._arrays(arrays)
        contexts = self._ctx_list
        if len(arrays) == 1 and (ctx is None or ctx is contexts[0]):
            return arrays[0]
        wanted = as_context(ctx)
        for place in (wanted, wanted.home):
            if place in contexts:
                return arrays[contexts.index(place)]
        raise RuntimeError(
            f"Parameter '{self.name}' was not initialized on context {ctx}. "
            f"It was only initialized on {contexts}."
        )

    def data(self, ctx=None, *, device=None):
        """Return the array on one context.

        Parameters
        ----------
        ctx : Context, optional
            Defaults to the parameter's only context, or else the current one.
        device : Context, optional
            Alias of `ctx`.

        Returns
        -------
        NDArray

        Raises
        ------
        RuntimeError
            If the parameter is not initialized, or not on that context.
        DeferredInitializationError
            If its shape is not known yet.
        """
        self._refuse_sparse("data", ctx or device)
        array = self._check_and_get(self._data, ctx or device)
        return traced_view(self, array) if front.is_deferred() else array

    def list_data(self):
        """Return the arrays on all contexts, in the order of `list_ctx`; see `data`."""
        self._refuse_sparse("list_data")
        return self._list_arrays()

    def _list_arrays(self):
        """The arrays on all contexts, of any storage type."""
        return list(self._arrays(self._data))

    def _refuse_sparse(self, method, ctx=None):
        if self._stype != "default":
            place = "" if ctx is None else f" on context {ctx}"
            raise RuntimeError(
                f"Cannot return a copy of Parameter '{self.name}' via {method}(){place} because "
                f"its storage type is {self._stype}. Please use row_sparse_data() instead."
            )

    def _checked_gradients(self):
        if self._data is not None and self._grad is None:
            raise RuntimeError(
                f"Cannot get gradient array for Parameter '{self.name}' because grad_req='null'"
            )
        return self._grad

    def grad(self, ctx=None, *, device=None):
        """Return the gradient on one context.

        Parameters
        ----------
        ctx, device : Context, optional
            See `data`.

        Returns
        -------
        NDArray

        Raises
        ------
        RuntimeError
            If `grad_req` is 'null', or for the reasons given in `data`.
        """
        return self._check_and_get(self._checked_gradients(), ctx or device)

    def list_grad(self):
        """Return the gradients on all contexts, in the order of `list_ctx`; see `grad`."""
        return list(self._arrays(self._checked_gradients()))

    def list_ctx(self):
        """Return the contexts on which the parameter is or will be initialized.

        Returns
        -------
        list of Context
        """
        if self._data is not None:
            return list(self._ctx_list)
        if self._deferred_init is not None:
            return list(self._deferred_init.contexts)
        raise RuntimeError(
            f"Parameter '{self.name}' has not been initialized: "
            "call initialize() of the network first"
        )

    list_device = list_ctx

    def row_sparse_data(self, row_id):
        """Fetch rows from the trainer's store into the array on the context of `row_id`.

        Parameters
        ----------
        row_id : NDArray
            Row indices, in any order.

        Returns
        -------
        RowSparseNDArray
            These rows, without duplicates.

        Raises
        ------
        RuntimeError
            If the parameter is not row_sparse, or has no trainer.
        """
        self._check_rows("row_sparse_data")
        array = self._check_and_get(self._data, row_id.context)
        self._pull_rows(array, row_id)
        return array

    def list_row_sparse_data(self, row_id):
        """Return the arrays on all contexts, each with the rows `row_id`; see `row_sparse_data`."""
        self._check_rows("list_row_sparse_data")
        arrays = self._list_arrays()
        self._pull_rows(arrays, row_id)
        return arrays

    def _check_rows(self, method):
        if self._stype != "row_sparse":
            raise RuntimeError(
                f"Cannot return a copy of Parameter '{self.name}' via {method}() because its "
                f"storage type is {self._stype}. Please use data() instead."
            )
        if self._trainer_ref is None and self._rows_in is None:
            raise RuntimeError(
                f"Cannot get row_sparse data for Parameter '{self.name}' when no Trainer is "
                "created with it."
            )

    # The trainer's store holds all rows of a row_sparse parameter; its own arrays hold those
    # requested last. The parameter refers to the store, not to the trainer: this avoids a
    # reference cycle, and the rows outlive the trainer.

    def _pull_rows(self, out, row_id=None):
        """Pull rows (by default all) from the trainer's store into arrays."""
        with autograd.pause():  # networks request rows inside autograd.record
            if self._trainer is not None:
                self._trainer._ready()
            if self._rows_in is None:  # the trainer is gone and never created a store
                self._rows_in = kvstore.create("local"), 0
                self._rows_in[0].init(0, self._list_arrays()[0])
            store, key = self._rows_in
            if row_id is None:
                store.pull(key, out=out, priority=-key, ignore_sparse=False)
            else:
                store.row_sparse_pull(key, out=out, row_ids=row_id, priority=-key)

    def _fetch_rows(self):
        """Pull all rows into the parameter's own arrays."""
        if self._rows_in is not None:
            self._pull_rows(self._list_arrays())

    def _take_rows_back(self):
        """Pull all rows and detach from the store."""
        self._fetch_rows()
        self._rows_in = None

    def _forget_stored(self):
        """Invalidate the value that the trainer's store holds."""
        if self._trainer is not None:
            self._trainer._forget_stored(self)
        self._rows_in = None

    def set_data(self, data):
        """Set the value on all contexts.

        Parameters
        ----------
        data : NDArray
            The value; it also sets the shape if initialization is deferred.
        """
        self.shape = data.shape
        if self._data is None:
            assert self._deferred_init is not None, (
                f"Parameter '{self.name}' has not been initialized"
            )
            self._deferred_init.data = data
            return
        self._forget_stored()
        with autograd.pause():
            stored = with_stype(data, self._stype)
            for array in self._data:
                array[:] = stored

    def zero_grad(self):
        """Fill the gradients on all contexts with 0; no effect without gradients."""
        for gradient in self._grad or ():
            if gradient.stype == "default":
                gradient[:] = 0
            else:
                nd.zeros_like(gradient, out=gradient)

    def reset_ctx(self, ctx):
        """Move the parameter to other contexts.

        Parameters
        ----------
        ctx : Context or list of Context
            The new contexts.

        Raises
        ------
        ValueError
            If the parameter is not initialized.
        """
        contexts = as_contexts(ctx)
        if self._data is not None:
            data = self._reduce()
            with autograd.pause():
                self._spread(data, contexts)
        elif self._deferred_init is not None:
            self._deferred_init.contexts = contexts
        else:
            raise ValueError(
                f"Cannot reset context for Parameter '{self.name}' because it has not been "
                "initialized."
            )

    def reset_device(self, device):
        """Move the parameter to other contexts; see `reset_ctx`."""
        self.reset_ctx(device)

    def cast(self, dtype):
        """Change the element type of the arrays and the gradients.

        Parameters
        ----------
        dtype : str or numpy.dtype
            The new type.
        """
        self._dtype, self._var = dtype, None
        if self._data is None:
            return
        if self._rows_in is not None:
            self._fetch_rows()
            self._forget_stored()  # its copy has the old dtype
        with autograd.pause():
            self._data = [array.astype(dtype) for array in self._data]
            if self._grad is None:
                return
            self._grad = [array.astype(dtype) for array in self._grad]
            autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _reduce(self):
        """The value on the CPU, averaged over all contexts."""
        if self._stype != "default":
            return self._all_rows()
        arrays = self.list_data()
        total = arrays[0].copyto(cpu())
        for array in arrays[1:]:
            total += array.as_in_context(cpu())
        return total / len(arrays) if len(arrays) > 1 else total

    def _all_rows(self):
        """A sparse value on the CPU, with all rows from the trainer's store if it has one."""
        data = self._list_arrays()[0].copyto(cpu())
        if self._rows_in is not None:
            self._pull_rows(data)
        return data


def with_stype(data, stype):
    """Convert an array to a storage type; row_sparse stores all rows, including zero rows."""
    if data.stype == stype:
        return data
    dense = data.tostype("default")
    if stype == "row_sparse":
        return nd.sparse.RowSparseNDArray._with_all_rows(dense)
    return dense.tostype(stype)
