"""Queries of the libraries that Horovod's interface is built with."""

from mxcy.dist.worlds.world import has_engine

__all__ = [
    "Average",
    "Sum",
    "ccl_built",
    "cuda_built",
    "ddl_built",
    "gloo_built",
    "gloo_enabled",
    "mpi_built",
    "mpi_enabled",
    "mpi_threads_supported",
    "nccl_built",
    "rocm_built",
]

#: names of reduction operations, for programs that pass them through
Average, Sum = "Average", "Sum"


def mpi_built():
    """Return whether MPI is available, i.e. mpi4py is installed."""
    return has_engine()


def mpi_enabled():
    """Return whether MPI is used: always if available."""
    return has_engine()


def mpi_threads_supported():
    """Return whether MPI supports multiple threads: always."""
    return has_engine()


def gloo_built():
    """Return whether Gloo is available: never."""
    return False


gloo_enabled = ddl_built = ccl_built = cuda_built = rocm_built = gloo_built


def nccl_built():
    """Return the version of NCCL: 0, as it is not used."""
    return 0
