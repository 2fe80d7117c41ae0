"""Benchmarks for users: ``mxcy-bench`` measures this machine with the installed package.

``mxcy-bench score`` measures images per second of networks, ``train`` the time of training steps,
``calls`` the cost of small calls, ``bandwidth`` operators relative to a copy. `mxcy.bench.opperf`
times individual operators, with the command line of MXNet's program of that name.
"""
