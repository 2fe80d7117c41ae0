"""Environment variables that define a process's role in a job."""

import re

import pytest

import mxcy as mx
from mxcy.dist.job import Job
from tests.env.run import python

_STORE = """
import mxcy as mx
try:
    store = mx.kv.create("dist_sync")
    print(store.rank, store.num_workers, store.type)
except mx.MXNetError as error:
    print("MXNetError:", error)
"""


NONSENSE = [
    ("DMLC_NUM_WORKER", "four"),
    ("DMLC_NUM_WORKER", "0"),
    ("DMLC_NUM_WORKER", "-3"),
    ("DMLC_NUM_WORKER", str(10**20)),
    ("DMLC_NUM_SERVER", "-1"),
    ("DMLC_PS_ROOT_PORT", "99999999"),
    ("DMLC_ROLE", "emperor"),
    ("DMLC_PS_VAN_TYPE", "pigeon"),
    ("PMI_RANK", "x"),
    ("PMI_SIZE", "0"),
    ("OMPI_COMM_WORLD_RANK", "x"),
    ("PMIX_RANK", "-1"),
    ("MXCY_DIST_TIMEOUT", "soon"),
    ("MXCY_DIST_BUCKET_BYTES", "0"),
]


def test_nonsense(monkeypatch):
    for name, text in NONSENSE:
        monkeypatch.setenv(name, text)
        job = Job()
        with pytest.raises(mx.MXNetError, match=re.escape(f"{name}={text!r}")):
            job.open()
        assert job.progress is None
        monkeypatch.delenv(name)


def test_roles():
    """A scheduler has nothing to do, and neither has a server without a job."""
    assert python(_STORE, DMLC_ROLE="scheduler").out == ""
    assert python(_STORE, DMLC_ROLE="server").out == ""
    assert python(_STORE, DMLC_ROLE="worker").out == "0 1 dist_sync\n"


def test_missing_workers():
    said = python(_STORE, DMLC_NUM_WORKER="2", DMLC_ROLE="worker").out
    assert "DMLC_NUM_WORKER=2, but no process manager of MPI has started this process" in said
    assert "mxcy.tools.launch -n 2" in said


def test_without_mpi4py():
    said = python("import sys; sys.modules['mpi4py'] = None\n" + _STORE, PMI_RANK="0").out
    assert "mpi4py is not installed; 'pip install mxcy[dist]'" in said


def test_one_worker_does_not_import_mpi4py():
    said = python(_STORE + "import sys; print('mpi4py' in sys.modules)").out
    assert said == "0 1 dist_sync\nFalse\n"
