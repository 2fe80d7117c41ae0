"""How gradients of several devices come together and change the parameters."""

from mxcy import optimizer as optimizers
from mxcy.kvstore.choice import choose_store

__all__ = ["Updates", "choose_store"]


class Updates:
    """An optimizer, with the store that adds up the gradients for it.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    store : KVStoreBase or None
        What adds up gradients.
    on_store : bool
        Whether the store runs the optimizer.
    compression_params : dict, optional
        See `KVStore.set_gradient_compression`.
    """

    def __init__(self, optimizer, store, on_store, compression_params=None):
        self.optimizer, self.store, self.on_store = optimizer, store, on_store
        self.updater = None if on_store else optimizers.get_updater(optimizer)
        if store is not None and compression_params:
            store.set_gradient_compression(compression_params)
        if on_store:
            store.set_optimizer(optimizer)

    def start(self, names, param_arrays, arg_params):
        """Put the parameters into the store, and with `on_store` from there to the devices."""
        if self.store is None:
            return
        for name, arrays in zip(names, param_arrays, strict=True):
            if self.on_store:
                self.store.broadcast(name, arg_params[name], out=arrays)
            else:
                self.store.broadcast(name, arg_params[name], out=[arg_params[name]])

    def step(self, names, param_arrays, grad_arrays):
        """Change parameters by their gradients; arrays are lists of one per device."""
        updates = [([], [], []) for _ in param_arrays[0]] if param_arrays else []
        for i, (name, weights, grads) in enumerate(
            zip(names, param_arrays, grad_arrays, strict=True)
        ):
            if grads[0] is None:
                continue
            if self.on_store:
                # The first layers are needed first in the next step.
                self.store.pushpull(name, grads, out=weights, priority=-i)
                continue
            if self.store is not None:
                self.store.pushpull(name, grads, priority=-i)
            for k, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
                for items, item in zip(
                    updates[k], (i * len(weights) + k, grad, weight), strict=True
                ):
                    items.append(item)
        for indices, grads, weights in updates:
            if indices:
                self.updater(indices, grads, weights)

    def save_states(self, fname):
        """Write the optimizer's states to a file."""
        if self.on_store:
            self.store.save_optimizer_states(fname)
            return
        with open(fname, "wb") as file:
            file.write(self.updater.get_states())

    def load_states(self, fname):
        """Read the optimizer's states from a file that `save_states` wrote."""
        if self.on_store:
            self.store.load_optimizer_states(fname)
            return
        with open(fname, "rb") as file:
            self.updater.set_states(file.read())
