"""Operators that users write in Python (`mx.operator`): records, threads, and how they run.

`records.py` makes the record of an operator from what its `CustomOpProp` says, so that symbols,
files and passes know it as any other; `jobs.py` has its methods called by the engine, on threads of
`threads.py`; `objects.py` keeps the objects that compute.
"""
