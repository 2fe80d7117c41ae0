"""Commands to the processes of servers, of stores that may have no values there."""

import threading

from mxcy.base import MXNetError
from mxcy.dist.servers.key_client import Answers

__all__ = ["command_servers", "server_places"]


def server_places(progress):
    """The places of the processes that are servers.

    Parameters
    ----------
    progress : ProgressThread

    Returns
    -------
    list of int
    """
    return [i for i, role in enumerate(progress.world.roles) if role == "server"]


def command_servers(progress, head, text):
    """Have all processes of servers do something, and wait until they have.

    Parameters
    ----------
    progress : ProgressThread
    head : int
    text : str

    Raises
    ------
    MXNetError
        When a server cannot do it, or does not answer.
    """
    places, over = server_places(progress), threading.Event()
    if not places:
        return
    answers = Answers(len(places), lambda error: over.set())

    def ask():
        for place in places:
            progress.messenger.ask(
                place, "command", [0, head, text], answers.take, f"command {head}"
            )

    progress.submit(ask)
    over.wait()
    if answers.failed:
        raise MXNetError(answers.failed)
