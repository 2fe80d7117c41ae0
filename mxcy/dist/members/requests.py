"""Names of files in a job's folder by which launchers ask to join the job."""

__all__ = ["REFUSED", "REQUESTS"]

#: the folder of requests, and the suffix of the answer to a refused one
REQUESTS, REFUSED = "requests", ".refused"
