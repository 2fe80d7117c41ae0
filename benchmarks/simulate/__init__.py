"""What networks would take with more cores than this machine has: ``simulate_threads.py``."""
