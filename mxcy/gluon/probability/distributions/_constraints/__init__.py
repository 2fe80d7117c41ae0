"""Constraints on parameters and samples, exported by `constraint`."""
