"""Notes of a part as lines of JSON, which survive its termination."""

import json
import sys
import time
import traceback

__all__ = ["Notes", "begun", "read"]


class Notes:
    """A part's output of results.

    Parameters
    ----------
    path : str
        The file.
    seconds : float
        The part's time.
    is_small : bool
        Whether this is only a trial run.
    select : str
        Selection of tests for pytest's ``-k``; all if empty.
    """

    def __init__(self, path, seconds, is_small, select=""):
        self.path, self.is_small, self.select = path, is_small, select
        self._end = time.monotonic() + seconds

    @property
    def left(self):
        """float: seconds left for the part."""
        return self._end - time.monotonic()

    def fact(self, name, value):
        """Note a fact."""
        self._write(kind="fact", name=name, value=value)

    def row(self, table, **cells):
        """Note a row of a table."""
        self._write(kind="row", table=table, cells=cells)

    def wrong(self, text):
        """Note a failed check."""
        self._write(kind="wrong", text=text)

    def tried(self, name, call, *args):
        """Call a function; note an exception as a failed check, and continue."""
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
            file.write("\n" + json.dumps(line, default=str))  # the previous line may be incomplete


def begun():
    """Return the notes of this process, which `tests.gpu.on_hardware` started."""
    path, seconds, size, select = sys.argv[1:5]
    return Notes(path, float(seconds), size == "small", select)


def read(path):
    """Read the notes of a part.

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
            continue  # empty, or the process was killed while writing
        if entry["kind"] == "fact":
            facts[entry["name"]] = entry["value"]
        elif entry["kind"] == "row":
            tables.setdefault(entry["table"], []).append(entry["cells"])
        else:
            wrong.append(entry["text"])
    return {"facts": facts, "tables": tables, "wrong": wrong}
