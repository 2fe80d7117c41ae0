"""Registry of the jobs running on this machine, in files, so that they can be ended."""

import contextlib
import json
import os
import signal
import socket
import tempfile
import time
from pathlib import Path

from mxcy._base.files import replacing
from mxcy.dist.members.requests import REFUSED, REQUESTS

__all__ = ["ask_to_join", "end_all", "free_memory", "noted", "running"]

_LOOK_SECONDS = 0.1


def _folder():
    return Path(tempfile.gettempdir()) / f"mxcy-jobs-{os.getuid()}"


def _began(process):
    """Start time of a process in ticks since boot; None if it does not exist."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return None


@contextlib.contextmanager
def noted(group, job=None):
    """Context that registers this launcher and its job.

    Parameters
    ----------
    group : int
        Process group of the job.
    job : str, optional
        The job's folder, where its processes on this machine are registered.
    """
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    note = folder / f"{os.getpid()}.json"
    content = {"launcher": os.getpid(), "began": _began(os.getpid()), "group": group}
    content["folder"] = job
    with replacing(note) as file:
        file.write(json.dumps(content).encode())
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def free_memory(folder, notes):
    """Remove shared memory of processes that have been killed on this machine.

    Parameters
    ----------
    folder : str
        The job's folder.
    notes : list of str
        Files there in which processes have noted their host and paths of memory.
    """
    for name in notes:
        host, *paths = Path(folder, name).read_text(encoding="utf-8").split("\n")
        for path in paths if host == socket.gethostname() else ():
            Path(path).unlink(missing_ok=True)


def running():
    """Return the running jobs of this user.

    Returns
    -------
    dict of int to str
        Process id of each launcher -> folder of its job.
    """
    jobs = {}
    for note in sorted(_folder().glob("*.json")):
        try:
            if note.stat().st_uid != os.getuid():
                continue  # another user's, in a world-writable folder
            content = json.loads(note.read_text(encoding="utf-8"))
            launcher, began = content["launcher"], content["began"]
        except (OSError, ValueError, KeyError):
            continue
        if began is not None and _began(launcher) == began:  # not a recycled process id
            jobs[launcher] = content.get("folder")
        else:
            note.unlink(missing_ok=True)
    return jobs


def end_all():
    """Signal all launchers of this user to end their jobs.

    Returns
    -------
    list of int
        Their process ids.
    """
    launchers = list(running())
    for launcher in launchers:
        os.kill(launcher, signal.SIGTERM)
    return launchers


def ask_to_join(launcher, count):
    """Add workers to a running job, and wait until they have joined.

    Parameters
    ----------
    launcher : int
        Process id of the job's launcher.
    count : int
        Number of workers to add.

    Returns
    -------
    str or None
        Reason of a failure.
    """
    jobs = running()
    folder = jobs.get(launcher)
    if folder is None:
        others = ", ".join(map(str, sorted(jobs))) or "none"
        return f"process {launcher} is not a launcher of a job on this machine; those are: {others}"
    requests = Path(folder, REQUESTS)
    request = requests / f"{os.getpid()}.json"
    refused = request.with_suffix(REFUSED)
    try:
        requests.mkdir(exist_ok=True)
        with replacing(request) as file:
            file.write(json.dumps({"count": count}).encode())
    except FileNotFoundError:
        return "the job has ended"
    while request.exists():
        time.sleep(_LOOK_SECONDS)
    if refused.exists():
        return refused.read_text(encoding="utf-8")
    return None if requests.is_dir() else "the job has ended before"
