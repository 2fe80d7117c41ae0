"""Training over several processes with MPI: the layer below `mxcy.kvstore`, independent of arrays.

`worlds` are process groups and their communication: ``worlds/world.py`` is the only module that
imports mpi4py, ``worlds/memory_world.py`` has the same interface for threads of one process. A
`ProgressThread` owns a world and communicates for all threads. `keys` all-reduces values by
key, in buckets; `servers` keeps values on parameter servers; `members` handles ranks that join,
leave or fail; `simulated` runs jobs on a simulated clock. ``job.py`` opens the job when the first
store is created, and ``shutdown.py`` closes it however the program ends.
"""
