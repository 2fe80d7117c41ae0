"""Predict how networks scale to more cores than this machine has; see ``simulate_threads.py``."""
