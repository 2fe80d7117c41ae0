"""Passes: each module has one function ``run(graph, target) -> Graph``, the same graph if nothing
was to be done. Graphs have specs; what a pass replaces computes the same outputs.
"""
