"""The server of a store over several machines, which mxcy does not have yet."""

from mxcy.base import MXNetError

__all__ = ["KVStoreServer"]


class KVStoreServer:
    """Keeps the values of a store over several machines, and runs the optimizer on them.

    Parameters
    ----------
    kvstore : KVStore
        A store over several machines.

    Attributes
    ----------
    kvstore, handle
        The store, and what it works on.
    """

    def __init__(self, kvstore):
        self.kvstore, self.handle = kvstore, kvstore.handle

    def run(self):
        """Serve until the workers are done.

        Raises
        ------
        MXNetError
            When the store is one of a single process, as all are now: it needs no server.
        """
        raise MXNetError(
            f"KVStoreServer.run: a store of kind {self.kvstore.type!r} works in one process and "
            "needs no server; stores over several machines are not available"
        )
