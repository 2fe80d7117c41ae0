"""The list of live allocations, as a CSV table."""

import csv
import io
import os

from mxcy._base.files import replacing
from mxcy._library import front
from mxcy.context import Context

__all__ = ["write_allocations"]

_COLUMNS = ("Attribute Name", "Requested Size", "Device", "Actual Size", "Reuse?")


def write_allocations(prefix):
    """Write all live allocations made since profiling began, and totals per device.

    Parameters
    ----------
    prefix : str
        Prefix of the file name, ``<prefix>-pid_<number of the process>.csv``.

    Returns
    -------
    str : the name of the file
    """
    path = f"{prefix}-pid_{os.getpid()}.csv"
    totals = {}
    text = io.StringIO(newline="")
    table = csv.writer(text, quoting=csv.QUOTE_ALL)
    table.writerow(_COLUMNS)
    for name, asked, device_type, device_id, taken, reused in front.recorder.allocations():
        device = str(Context(Context.devtype2str[device_type], device_id))
        table.writerow((name, asked, device, taken, reused))
        total = totals.setdefault(device, [0, 0])
        total[0] += asked
        total[1] += taken
    for device, (asked, taken) in totals.items():
        table.writerow((f"Total on {device}", asked, device, taken, ""))
    with replacing(path) as file:
        file.write(text.getvalue().encode())
    return path
