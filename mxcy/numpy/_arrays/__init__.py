"""The `mx.np.ndarray` class: operators, indexing, protocols and memory sharing."""
