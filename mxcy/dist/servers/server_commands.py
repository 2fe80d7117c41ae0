"""Commands to server processes, also from stores without values there."""

import threading

from mxcy.base import MXNetError
from mxcy.dist.servers.key_client import Answers

__all__ = ["command_servers", "server_places"]


def server_places(progress):
    """The places of the server processes.

    Parameters
    ----------
    progress : ProgressThread

    Returns
    -------
    list of int
    """
    return [i for i, role in enumerate(progress.world.roles) if role == "server"]


def command_servers(progress, head, text):
    """Send a command to all server processes and wait for their answers.

    Parameters
    ----------
    progress : ProgressThread
    head : int
    text : str

    Raises
    ------
    MXNetError
        When a server fails or does not answer.
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
