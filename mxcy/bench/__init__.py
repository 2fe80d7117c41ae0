"""Benchmarks for users: ``mxcy-bench`` measures this machine with the installed package alone.

``mxcy-bench score`` tells images per second of networks, ``train`` times of steps, ``calls``
what small calls cost, ``bandwidth`` how near operators come to a copy. `mxcy.bench.opperf` times
operators one by one, with the command line of MXNet's program of that name.
"""
