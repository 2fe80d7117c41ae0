"""What a part of the program notes: lines of JSON, so that nothing is lost when it is ended."""

import json
import sys
import time
import traceback

__all__ = ["Notes", "begun", "read"]


class Notes:
    """Where a part notes what it finds.

    Parameters
    ----------
    path : str
        The file.
    seconds : float
        The part's time.
    is_small : bool
        Whether it is only tried out.
    select : str
        Which tests are wanted, as pytest's ``-k`` takes it; all if empty.
    """

    def __init__(self, path, seconds, is_small, select=""):
        self.path, self.is_small, self.select = path, is_small, select
        self._end = time.monotonic() + seconds

    @property
    def left(self):
        """float: seconds of the part's time that are left."""
        return self._end - time.monotonic()

    def fact(self, name, value):
        """Note something that is so."""
        self._write(kind="fact", name=name, value=value)

    def row(self, table, **cells):
        """Note a line of a table."""
        self._write(kind="row", table=table, cells=cells)

    def wrong(self, text):
        """Note something that must not be."""
        self._write(kind="wrong", text=text)

    def tried(self, name, call, *args):
        """Call a function; what it raises is noted as wrong, and the part goes on."""
        if self.left <= 0:
            self.row("left out", what=name, why="no time")
            return None
        try:
            return call(*args)
        except Exception:
            self.wrong(f"{name}: {traceback.format_exc(limit=-3).strip()[-1500:]}")
            return None

    def _write(self, **line):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(line, default=str))  # the one before may be cut off


def begun():
    """The notes of this process, which `tests.gpu.on_hardware` has started."""
    path, seconds, size, select = sys.argv[1:5]
    return Notes(path, float(seconds), size == "small", select)


def read(path):
    """What a part has noted.

    Returns
    -------
    dict
        ``facts`` (name -> value), ``tables`` (name -> list of rows), ``wrong`` (list of texts).
    """
    facts, tables, wrong = {}, {}, []
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # empty, or the process was ended while it wrote this
        if entry["kind"] == "fact":
            facts[entry["name"]] = entry["value"]
        elif entry["kind"] == "row":
            tables.setdefault(entry["table"], []).append(entry["cells"])
        else:
            wrong.append(entry["text"])
    return {"facts": facts, "tables": tables, "wrong": wrong}
