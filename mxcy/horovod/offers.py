"""What the library is made with, which programs ask for."""

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

#: names of what is done with tensors, for programs that pass them on
Average, Sum = "Average", "Sum"


def mpi_built():
    """Whether there is MPI: mpi4py is installed."""
    return has_engine()


def mpi_enabled():
    """Whether MPI is used: it is if it is there."""
    return has_engine()


def mpi_threads_supported():
    """Whether MPI may be called by several threads: it is opened so."""
    return has_engine()


def gloo_built():
    """Whether there is Gloo: never."""
    return False


gloo_enabled = ddl_built = ccl_built = cuda_built = rocm_built = gloo_built


def nccl_built():
    """The version of NCCL: 0, there is none."""
    return 0
