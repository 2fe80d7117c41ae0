"""What stands behind `mx.np.random`."""
