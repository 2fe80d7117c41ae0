"""The arrays of a parameter, one on each context."""

from mxcy import autograd
from mxcy.base import MXNetError
from mxcy.context import Context, cpu, current_context

__all__ = ["DeferredInitializationError", "ParameterArrays", "context_list"]


class DeferredInitializationError(MXNetError):
    """A parameter was asked for its array before its shape was known."""


class ParameterArrays:
    """The part of `Parameter` that hands out, sets, moves and casts its arrays and gradients.

    `_data` and `_grad` map contexts to arrays, or are None; `_deferred_init` is what a deferred
    initialization will need, or None.
    """

    def _arrays(self, arrays):
        """`arrays`, or the error that tells why there are none."""
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
        if len(arrays) == 1:
            ((only, array),) = arrays.items()
            if ctx is None or ctx is only:
                return array
        wanted = current_context() if ctx is None else ctx
        found = arrays.get(wanted)
        if found is None:
            found = arrays.get(wanted.home)
        if found is None:
            raise RuntimeError(
                f"Parameter '{self.name}' was not initialized on context {ctx}. "
                f"It was only initialized on {list(arrays)}."
            )
        return found

    def data(self, ctx=None, *, device=None):
        """Return the array on one context.

        Parameters
        ----------
        ctx : Context, optional
            By default the only context there is, else the current one.
        device : Context, optional
            Another name of `ctx`.

        Returns
        -------
        NDArray

        Raises
        ------
        RuntimeError
            When the parameter is not initialized, or not on that context.
        DeferredInitializationError
            When its shape is not known yet.
        """
        return self._check_and_get(self._data, ctx or device)

    def list_data(self):
        """Return the arrays on all contexts, in the order of `list_ctx`; see `data`."""
        return list(self._arrays(self._data).values())

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
            When there is no gradient because `grad_req` is 'null', or as for `data`.
        """
        return self._check_and_get(self._checked_gradients(), ctx or device)

    def list_grad(self):
        """Return the gradients on all contexts, in the order of `list_ctx`; see `grad`."""
        return list(self._arrays(self._checked_gradients()).values())

    def list_ctx(self):
        """Return the contexts for which the parameter is or will be initialized.

        Returns
        -------
        list of Context
        """
        if self._data is not None:
            return list(self._data)
        if self._deferred_init is not None:
            return list(self._deferred_init.contexts)
        raise RuntimeError(f"Parameter '{self.name}' has not been initialized")

    list_device = list_ctx

    def row_sparse_data(self, row_id):
        """Return the rows of a row-sparse parameter; arrays here are dense, so this refuses.

        Parameters
        ----------
        row_id : NDArray
            The rows.

        Raises
        ------
        RuntimeError
            Always: `data` has the whole array.
        """
        raise RuntimeError(
            f"Parameter '{self.name}' has no rows to pick, its storage is default (asked for by "
            f"row_sparse_data of rows {row_id.asnumpy().tolist()}). Please use data() instead."
        )

    def list_row_sparse_data(self, row_id):
        """Return the rows on all contexts; see `row_sparse_data`."""
        return [self.row_sparse_data(row_id)]

    def set_data(self, data):
        """Set the value on all contexts.

        Parameters
        ----------
        data : NDArray
            The value; of a parameter whose initialization is deferred it decides the shape.
        """
        self.shape = data.shape
        if self._data is None:
            assert self._deferred_init is not None, (
                f"Parameter '{self.name}' has not been initialized"
            )
            self._deferred_init.data = data
            return
        with autograd.pause():
            for array in self._data.values():
                array[:] = data

    def zero_grad(self):
        """Fill the gradients on all contexts with 0; without effect when there are none."""
        for gradient in (self._grad or {}).values():
            gradient[:] = 0

    def reset_ctx(self, ctx):
        """Move the parameter to other contexts.

        Parameters
        ----------
        ctx : Context or list of Context
            The new contexts.

        Raises
        ------
        ValueError
            When the parameter is not initialized.
        """
        contexts = context_list(ctx)
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
        """Move the parameter to other contexts, see `reset_ctx`."""
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
        with autograd.pause():
            self._data = {ctx: array.astype(dtype) for ctx, array in self._data.items()}
            if self._grad is None:
                return
            self._grad = {ctx: array.astype(dtype) for ctx, array in self._grad.items()}
            autograd.mark_variables(
                list(self._data.values()), list(self._grad.values()), self.grad_req
            )

    def _reduce(self):
        """The value on the CPU, averaged over all contexts."""
        arrays = self.list_data()
        total = arrays[0].copyto(cpu())
        for array in arrays[1:]:
            total += array.as_in_context(cpu())
        return total / len(arrays) if len(arrays) > 1 else total


def context_list(ctx):
    """One or several contexts as a list, by default the current one."""
    if ctx is None:
        return [current_context()]
    return [ctx] if isinstance(ctx, Context) else list(ctx)
