"""Graph execution: planned graphs, cached operators, executors."""
