"""What all key-value stores offer, the registry of kinds, and the smallest kind."""

import warnings

from mxcy._base import older_paths
from mxcy.ndarray import NDArray

__all__ = ["KVStoreBase", "TestStore"]

__getattr__ = older_paths.offer(__name__, "mxcy.kvstore.choice", ("create",))


class KVStoreBase:
    """Base of all stores; a subclass registered with `register` can be named in `create`."""

    OPTIMIZER = "optimizer"

    kv_registry = {}

    def broadcast(self, key, value, out, priority=0):
        """Put a value into the store, and copy it to several arrays.

        Parameters
        ----------
        key : int, str or list
            The key or keys; each may be broadcast once.
        value : NDArray or list of NDArray
            The value of each key.
        out : NDArray, list of NDArray or list of list of NDArray
            Where it goes.
        priority : int
            Higher ones may be done first.
        """
        raise NotImplementedError(f"{type(self).__name__} has no broadcast")

    def pushpull(self, key, value, out=None, priority=0):
        """Add up values, and copy the result to several arrays.

        Parameters
        ----------
        key : int, str or list
            The key or keys.
        value : NDArray, list of NDArray or list of list of NDArray
            What is added up for each key.
        out : NDArray, list of NDArray or list of list of NDArray, optional
            Where the sum goes, by default to `value`.
        priority : int
            Higher ones may be done first.
        """
        raise NotImplementedError(f"{type(self).__name__} has no pushpull")

    def set_optimizer(self, optimizer):
        """Let an optimizer change the stored values by what is pushed.

        Parameters
        ----------
        optimizer : Optimizer
            The optimizer.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot run an optimizer")

    @staticmethod
    def is_capable(capability):
        """Whether the store can do something that not all stores can.

        Parameters
        ----------
        capability : str
            `KVStoreBase.OPTIMIZER`: change the stored values by an optimizer.

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
            Write the optimizer too.
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
        """str: the kind of the store."""
        raise NotImplementedError(f"{type(self).__name__} has no type")

    @property
    def rank(self):
        """int: the number of this worker."""
        raise NotImplementedError(f"{type(self).__name__} has no rank")

    @property
    def num_workers(self):
        """int: how many workers there are."""
        raise NotImplementedError(f"{type(self).__name__} has no workers")

    @staticmethod
    def register(klass):
        """Register a kind of store under its class name in lower case; a class decorator."""
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
    """A list of one array, or of several."""
    return [value] if isinstance(value, NDArray) else list(value)


@KVStoreBase.register
class TestStore(KVStoreBase):
    """Adds up and copies, and keeps nothing; an example of what a kind of store needs."""

    __test__ = False  # not a class of tests, though its name looks like one

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
