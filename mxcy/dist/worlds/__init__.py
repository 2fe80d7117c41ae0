"""The processes of a job, to those who send and receive: by MPI, or as threads of one."""
