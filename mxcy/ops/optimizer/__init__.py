"""Updates of weights by optimizers."""
