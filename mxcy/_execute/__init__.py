"""Running graphs: planned graphs, cached operators, bound symbols, streams of random numbers."""
