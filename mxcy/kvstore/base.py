"""The interface of key-value stores, their registry, and a minimal implementation."""

import warnings

from mxcy._base import older_paths
from mxcy.ndarray import NDArray

__all__ = ["KVStoreBase", "TestStore"]

__getattr__ = older_paths.offer(__name__, "mxcy.kvstore.choice", ("create",))


class KVStoreBase:
    """Base class of stores; `create` finds subclasses registered with `register`."""

    OPTIMIZER = "optimizer"

    kv_registry = {}

    def broadcast(self, key, value, out, priority=0):
        """Initialize a value in the store and copy it to several arrays.

        Parameters
        ----------
        key : int, str or list
            The key or keys; each may be broadcast only once.
        value : NDArray or list of NDArray
            The value of each key.
        out : NDArray, list of NDArray or list of list of NDArray
            Destination.
        priority : int
            Priority hint; higher values may run first.
        """
        raise NotImplementedError(f"{type(self).__name__} has no broadcast")

    def pushpull(self, key, value, out=None, priority=0):
        """Sum values and copy the result to several arrays.

        Parameters
        ----------
        key : int, str or list
            The key or keys.
        value : NDArray, list of NDArray or list of list of NDArray
            Values to sum, per key.
        out : NDArray, list of NDArray or list of list of NDArray, optional
            Destination of the sum, by default `value`.
        priority : int
            Priority hint; higher values may run first.
        """
        raise NotImplementedError(f"{type(self).__name__} has no pushpull")

    def set_optimizer(self, optimizer):
        """Update stored values with pushed gradients by an optimizer.

        Parameters
        ----------
        optimizer : Optimizer
            The optimizer.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot run an optimizer")

    @staticmethod
    def is_capable(capability):
        """Return whether the store has an optional capability.

        Parameters
        ----------
        capability : str
            `KVStoreBase.OPTIMIZER`: update the stored values by an optimizer.

        Returns
        -------
        bool
        """
        raise NotImplementedError("this type of store does not report its capabilities")

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the states of the optimizer to a file.

        Parameters
        ----------
        fname : str
            The file.
        dump_optimizer : bool
            Also write the optimizer.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot run an optimizer")

    def load_optimizer_states(self, fname):
        """Read the states of the optimizer from a file.

        Parameters
        ----------
        fname : str
            The file.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot run an optimizer")

    @property
    def type(self):
        """str: type of the store."""
        raise NotImplementedError(f"{type(self).__name__} has no type")

    @property
    def rank(self):
        """int: rank of this worker."""
        raise NotImplementedError(f"{type(self).__name__} has no rank")

    @property
    def num_workers(self):
        """int: number of workers."""
        raise NotImplementedError(f"{type(self).__name__} has no workers")

    @staticmethod
    def register(klass):
        """Class decorator that registers a store under its lower-case class name."""
        assert isinstance(klass, type), f"expected a class, got {klass!r}"
        name = klass.__name__.lower()
        known = KVStoreBase.kv_registry.get(name)
        if known is not None:
            warnings.warn(
                f"New kvstore {klass.__module__}.{klass.__name__} is overriding existing kvstore "
                f"{known.__module__}.{known.__name__}",
                stacklevel=2,
            )
        KVStoreBase.kv_registry[name] = klass
        return klass


def as_list(value):
    """Return a list of arrays, from one array or several."""
    return [value] if isinstance(value, NDArray) else list(value)


@KVStoreBase.register
class TestStore(KVStoreBase):
    """Minimal store, which sums and copies without keeping values."""

    __test__ = False  # not a test class for pytest

    def broadcast(self, key, value, out, priority=0):
        value = as_list(value)[0]
        for array in as_list(out):
            array[:] = value

    def pushpull(self, key, value, out=None, priority=0):
        values = as_list(value)
        total = sum((array.as_in_context(values[0].context) for array in values[1:]), values[0])
        for array in as_list(value if out is None else out):
            array[:] = total

    @staticmethod
    def is_capable(capability):
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f"Unknown capability: {capability}")

    @property
    def type(self):
        return "teststore"

    @property
    def rank(self):
        return 0

    @property
    def num_workers(self):
        return 1
