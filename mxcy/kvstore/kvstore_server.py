"""Server processes of a job, which serve instead of running the program."""

import sys
import time

from mxcy import env
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.dist.polling import sleep_precisely
from mxcy.dist.roles import read_place
from mxcy.dist.servers.key_server import KeyServer
from mxcy.dist.servers.messenger import Messenger
from mxcy.dist.worlds.world import World
from mxcy.kvstore.server_rules import ServerRules

__all__ = ["KVStoreServer", "serve"]

#: polling intervals in seconds: right after a message, between messages, and without a store
_SOON, _LATER, _IDLE = 50e-6, 1e-3, 0.02


class KVStoreServer:
    """MXNet's class for servers; a process with the server role serves on importing mxcy.

    Parameters
    ----------
    kvstore : KVStore
        A store.

    Attributes
    ----------
    kvstore, handle
        The store, and its backend.
    """

    def __init__(self, kvstore):
        self.kvstore, self.handle = kvstore, kvstore.handle

    def run(self):
        """Serve until the workers are done.

        Raises
        ------
        MXNetError
            Always, because this process is a worker.
        """
        raise MXNetError(
            "KVStoreServer.run: this process is a worker; processes with DMLC_ROLE=server, which "
            "'python -m mxcy.tools.launch -s N' starts, serve on importing mxcy"
        )


def serve():
    """Serve until all workers are done, then exit the program."""
    if read_place().started:
        world = World("server")
        front.set_bulk_size(0)
        run(world, env.get("MXCY_DIST_TIMEOUT"))
        world.finalize()
    sys.exit(0)


def run(world, patience):
    """Serve a world until all its processes have left.

    Parameters
    ----------
    world : World
        The server's view of the processes.
    patience : float
        See `KeyServer`.
    """
    messenger = Messenger(world)
    server = KeyServer(messenger, patience, ServerRules(world.rank))
    over = world.begin_barrier()
    sleep_precisely()
    rest = time.sleep if world.bells is None else world.bells.own.wait
    while not over.done():
        moved, expects = messenger.step(time.monotonic())
        if not moved:
            rest(_SOON if expects else _LATER if server.stores else _IDLE)
