"""Notes of the jobs that run on this machine, for those who want to end them."""

import contextlib
import json
import os
import signal
import tempfile
from pathlib import Path

from mxcy._base.files import replacing

__all__ = ["end_all", "noted"]


def _folder():
    return Path(tempfile.gettempdir()) / f"mxcy-jobs-{os.getuid()}"


def _began(process):
    """When a process began, in ticks since the machine's start; None if there is none."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return None


@contextlib.contextmanager
def noted(group):
    """Have a note of this launcher and its job as long as it runs.

    Parameters
    ----------
    group : int
        The process group of the job.
    """
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    note = folder / f"{os.getpid()}.json"
    content = {"launcher": os.getpid(), "began": _began(os.getpid()), "group": group}
    with replacing(note) as file:
        file.write(json.dumps(content).encode())
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def end_all():
    """Tell all launchers of this user to end their jobs.

    Returns
    -------
    list of int
        Their process numbers.
    """
    ended = []
    for note in sorted(_folder().glob("*.json")):
        try:
            if note.stat().st_uid != os.getuid():
                continue  # somebody else's, in a folder that everybody may write to
            content = json.loads(note.read_text(encoding="utf-8"))
            launcher, began = content["launcher"], content["began"]
        except (OSError, ValueError, KeyError):
            continue
        if began is not None and _began(launcher) == began:  # not another with its number
            os.kill(launcher, signal.SIGTERM)
            ended.append(launcher)
        else:
            note.unlink(missing_ok=True)
    return ended
