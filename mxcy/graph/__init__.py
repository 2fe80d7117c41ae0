"""Operator graphs: the form in which symbols and hybridized blocks are optimized and planned.

symbol or trace -> `Graph` -> passes (Graph to Graph) -> `plan` -> the native plan runner.
"""
