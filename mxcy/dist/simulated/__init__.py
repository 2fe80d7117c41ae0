"""Simulation of large jobs on a simulated clock."""
