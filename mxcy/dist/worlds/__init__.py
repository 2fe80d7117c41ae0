"""Process groups and their communication: by MPI, or between threads of one process."""
