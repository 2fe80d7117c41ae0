"""User-defined Python operators (`mx.operator`): records, threads and execution.

`records.py` makes an operator's record from its `CustomOpProp`, so that symbols, files and passes
treat it like any other; `jobs.py` schedules its methods by the engine, on threads of `threads.py`;
`objects.py` keeps the operator objects.
"""
