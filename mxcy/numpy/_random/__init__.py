"""Implementation of `mx.np.random`."""
