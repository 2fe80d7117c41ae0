"""Passes from graph to graph.

Each module has one function ``run(graph, target) -> Graph``, which returns the same graph if there
is nothing to do. Graphs have specs; replacements compute the same outputs.
"""
