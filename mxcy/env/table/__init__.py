"""All rows, by topic. A new variable is a row in the file of its topic."""

from mxcy.env.table import (
    engine,
    execution,
    files,
    gpu,
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

__all__ = ["FOREIGN", "PLANNING", "ROWS", "TOPICS", "VARIABLES"]

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
    "GPUs": gpu.ROWS,
}

ROWS = tuple(row for rows in TOPICS.values() for row in rows)

#: name -> row, without aliases
VARIABLES = {row.name: row for row in ROWS}

#: variables of the project's tests and benchmarks, which mxcy itself does not read
FOREIGN = (
    *("MXCY_REAL_MXNET_19", "MXCY_REAL_MXNET_20", "MXCY_BENCH_TORCH"),
    *(f"MXCY_STANDIN_{word}" for word in "ORDER DEVICES MEMORY CACHE CXX VERBOSE".split()),
)

#: the variables used by graph passes and the memory planner
PLANNING = ("MXCY_VERBOSE", *(r.name for r in ROWS if r.reader.startswith("mxcy.graph.")))
