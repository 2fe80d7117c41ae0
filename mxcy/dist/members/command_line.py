"""The command line that starts new ranks of this job."""

import base64
import json
import sys
import textwrap
from pathlib import Path

from mxcy import env

__all__ = ["new_line"]

_WORD = 500  # characters
#: variables of one process, or of the processes of one launcher
_OWN = ("MXCY_RANK_PID", "DMLC_WORKER_ID", "PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK")


def new_line(generation):
    """The command line that runs this program in a process that joins the job.

    Parameters
    ----------
    generation : int
        How often the job has grown, this time included.

    Returns
    -------
    list of str
    """
    kept = {name: env.raw(name) for name in (*env.VARIABLES, "PYTHONPATH") if name not in _OWN}
    kept.update(MXCY_DIST_JOINS=str(generation), DMLC_NUM_ATTEMPT=str(generation))
    variables = {name: value for name, value in kept.items() if value is not None}
    starter = Path(__file__).parents[2] / "tools" / "rank.py"
    # process managers take short words of plain characters only
    content = json.dumps([variables, sys.orig_argv]).encode()
    words = textwrap.wrap(base64.urlsafe_b64encode(content).decode(), _WORD)
    return [sys.executable, str(starter), "--encoded", *words]
