"""Features of the build, and mx.runtime's reports on the environment."""

import importlib.util

import pytest

import mxcy as mx
from mxcy._library import onednn


def test_features_tell_the_truth():
    features = mx.runtime.Features()
    assert features is mx.runtime.Features() and len(features) > 30
    assert features.is_enabled("openmp") and features["LAPACK"].enabled
    assert features.is_enabled("ONEDNN") == (onednn.version() is not None)
    assert features.is_enabled("MKLDNN") == features.is_enabled("ONEDNN")
    assert features.is_enabled("CYTHON") == mx.nd.NDArray.__mro__[1].__module__.startswith(
        "mxcy._cy."
    )
    assert features.is_enabled("OPENCV") == (importlib.util.find_spec("cv2") is not None)
    assert not features.is_enabled("CUDA") and not features.is_enabled("CUDNN")
    with pytest.raises(RuntimeError, match="Feature 'FOO' is unknown.*'CUDA'"):
        features.is_enabled("foo")


def test_features_look_as_in_mxnet():
    assert str(mx.runtime.Features()).startswith("[✖ CUDA, ✖ CUDNN, ")
    first = mx.runtime.feature_list()[0]
    assert (first.name, first.enabled, repr(first)) == ("CUDA", False, "✖ CUDA")
    assert ("CPU_SSE2", True) in mx.runtime.libinfo_features()


def test_vector_instructions_follow_the_level_in_use():
    features = mx.runtime.Features()
    assert features.is_enabled("CPU_AVX512") == (mx._library.front.block() == 16)
    assert features.is_enabled("CPU_SSE4_2")


def test_branch_and_commit():
    assert mx.runtime.get_branch() == f"v{mx.__version__}"
    assert mx.runtime.get_commit_hash() == ""


def test_environment_is_reported():
    entries = {entry["name"]: entry for entry in mx.runtime.env.report()}
    assert entries["OMP_NUM_THREADS"]["read_already"]
    assert mx.runtime.omp_threads() >= 1
