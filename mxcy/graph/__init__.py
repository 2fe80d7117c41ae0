"""Graphs of operators: what symbols, executors and hybridized blocks become before they run.

symbol or trace -> `Graph` -> passes (Graph to Graph) -> `plan` -> the native plan runner.
"""
