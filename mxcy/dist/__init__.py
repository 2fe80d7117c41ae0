"""Training over several processes, by MPI; below `mxcy.kvstore`, and without its arrays.

`worlds` are the processes of a job to those who send and receive: ``worlds/world.py`` is the only
door to mpi4py, and ``worlds/memory_world.py`` the same for threads of one process. A
`ProgressThread` owns a world: it alone sends and receives. `keys` has the `Exchange`, which adds up
what the processes push, bucket by bucket, `servers` stores whose values lie on servers, `members`
who comes, goes and waits for others, and `simulated` jobs on a clock. ``job.py`` opens all of it
when the first store asks, and ``shutdown.py`` closes it however the program ends.
"""
