"""Training over several processes, by MPI; below `mxcy.kvstore`, and without its arrays.

``world.py`` is the only door to mpi4py, and ``memory_world.py`` the same for threads of one
process. A `ProgressThread` owns a world: it alone sends and receives. `Exchange` adds up what the
processes push to keys, bucket by bucket. ``job.py`` opens all of it when the first store asks, and
``shutdown.py`` closes it however the program ends.
"""
