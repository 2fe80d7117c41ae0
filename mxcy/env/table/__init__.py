"""The rows of all topics. A new variable is a row in the file of its topic."""

from mxcy.env.table import (
    engine,
    execution,
    files,
    graphs,
    kvstore,
    loading,
    messages,
    numerics,
    onednn,
    profiler,
    storage,
    threads,
    tuning,
    workers,
)

__all__ = ["PLANNING", "ROWS", "TOPICS", "VARIABLES"]

#: title -> rows, in the order of the documentation
TOPICS = {
    "Loading and language binding": loading.ROWS,
    "Threads": threads.ROWS,
    "Worker processes": workers.ROWS,
    "Engine": engine.ROWS,
    "Serial or parallel": tuning.ROWS,
    "Memory pools and resources": storage.ROWS,
    "Execution of graphs": execution.ROWS,
    "Passes over graphs": graphs.ROWS,
    "Numerics and choice of algorithms": numerics.ROWS,
    "oneDNN": onednn.ROWS,
    "Training on several devices": kvstore.ROWS,
    "Profiler": profiler.ROWS,
    "Messages": messages.ROWS,
    "Files and downloads": files.ROWS,
}

ROWS = tuple(row for rows in TOPICS.values() for row in rows)

#: name -> row, aliases not included
VARIABLES = {row.name: row for row in ROWS}

#: the variables that passes over graphs and the memory planner obey
PLANNING = ("MXCY_VERBOSE", *(r.name for r in ROWS if r.reader.startswith("mxcy.graph.")))
