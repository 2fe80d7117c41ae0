"""`mx.runtime`: features of this build and machine, and the current environment."""

from collections import OrderedDict
from importlib.util import find_spec

from mxcy import env, libinfo
from mxcy._base import cpus
from mxcy._base.listing import listing
from mxcy._library import front, onednn
from mxcy._library.open import open_library
from mxcy._machine import threads as process_threads
from mxcy._machine.levels import is_x86
from mxcy._machine.tuning import op_tuning, tuning

__all__ = ["Feature", "Features", "env", "feature_list", "get_branch", "get_commit_hash"]
__all__ += ["libinfo_features", "omp_threads", "op_tuning", "threads", "tuning"]

#: feature -> the x86-64 level (2, 3, 4) whose kernels use it
_LEVELS = {
    "CPU_SSE": 2,
    "CPU_SSE2": 2,
    "CPU_SSE3": 2,
    "CPU_SSE4_1": 2,
    "CPU_SSE4_2": 2,
    "CPU_AVX": 3,
    "CPU_AVX2": 3,
    "SSE": 2,
    "F16C": 3,
    "CPU_AVX512": 4,
}
#: features of MXNet that mxcy lacks
_ABSENT = (
    "CUDA",
    "CUDNN",
    "NCCL",
    "CUDA_RTC",
    "TENSORRT",
    "CUTENSOR",
    "CPU_SSE4A",
    "JEMALLOC",
    "BLAS_OPEN",
    "BLAS_ATLAS",
    "BLAS_MKL",
    "BLAS_APPLE",
    "CAFFE",
    "DIST_KVSTORE",
    "DEBUG",
    "TVM_OP",
)
#: features that are part of every build
_PRESENT = ("OPENMP", "LAPACK", "CXX14", "INT64_TENSOR_SIZE", "SIGNAL_HANDLER")
#: MXNet's features in its order, then mxcy's own
_ORDER = (
    "CUDA",
    "CUDNN",
    "NCCL",
    "CUDA_RTC",
    "TENSORRT",
    "CUTENSOR",
    "CPU_SSE",
    "CPU_SSE2",
    "CPU_SSE3",
    "CPU_SSE4_1",
    "CPU_SSE4_2",
    "CPU_SSE4A",
    "CPU_AVX",
    "CPU_AVX2",
    "OPENMP",
    "SSE",
    "F16C",
    "JEMALLOC",
    "BLAS_OPEN",
    "BLAS_ATLAS",
    "BLAS_MKL",
    "BLAS_APPLE",
    "LAPACK",
    "ONEDNN",
    "MKLDNN",
    "OPENCV",
    "CAFFE",
    "PROFILER",
    "DIST_KVSTORE",
    "CXX14",
    "INT64_TENSOR_SIZE",
    "SIGNAL_HANDLER",
    "DEBUG",
    "TVM_OP",
    "CPU_AVX512",
    "CYTHON",
)


class Feature:
    """An optional feature of a build.

    Attributes
    ----------
    name : str
    enabled : bool
    """

    __slots__ = ("_name", "_enabled")

    def __init__(self, name, enabled):
        self._name, self._enabled = name, enabled

    @property
    def name(self):
        """str: name of the feature, in capitals."""
        return self._name

    @property
    def enabled(self):
        """bool: whether it is usable here."""
        return self._enabled

    def __repr__(self):
        return f"{'✔' if self.enabled else '✖'} {self.name}"


def feature_list():
    """List all features, enabled or not.

    Returns
    -------
    list of Feature
    """
    level = open_library().mx_isa() if is_x86() else 0
    has_onednn = onednn.version() is not None
    enabled = {
        **{name: level >= least for name, least in _LEVELS.items()},
        **dict.fromkeys(_ABSENT, False),
        **dict.fromkeys(_PRESENT, True),
        "ONEDNN": has_onednn,
        "MKLDNN": has_onednn,
        "OPENCV": find_spec("cv2") is not None,
        "PROFILER": find_spec("mxcy.profiler") is not None,
        "CYTHON": front.package == "_cy",
    }
    return [Feature(name, enabled[name]) for name in _ORDER]


def libinfo_features():
    """List the names of all features and whether they are enabled.

    Returns
    -------
    list of (str, bool)
    """
    return [(feature.name, feature.enabled) for feature in feature_list()]


class Features(OrderedDict):
    """Singleton dict of features by name."""

    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            super().__init__(cls.instance, [(feature.name, feature) for feature in feature_list()])
        return cls.instance

    def __init__(self):
        """Keep the state of the singleton."""

    def __repr__(self):
        return str(list(self.values()))

    def is_enabled(self, feature_name):
        """Return whether a feature is usable.

        Parameters
        ----------
        feature_name : str
            Name of the feature, case-insensitive.

        Returns
        -------
        bool

        Raises
        ------
        RuntimeError
            If there is no such feature.
        """
        feature_name = feature_name.upper()
        if feature_name not in self:
            raise RuntimeError(
                f"Feature '{feature_name}' is unknown, known features are: {list(self)}"
            )
        return self[feature_name].enabled


def get_branch():
    """Return the version, in place of a branch name."""
    return f"v{libinfo.__version__}"


def get_commit_hash():
    """Return an empty str: installed packages do not know their commit."""
    return ""


def omp_threads():
    """Return the size of the thread team for operators.

    Returns
    -------
    int
        The value last set by `mx.util.set_num_threads`; initially OMP_NUM_THREADS or the number of
        usable physical cores, at most MXNET_OMP_MAX_THREADS.
    """
    return front.get_threads()


def threads():
    """Return the processors of this process and its thread pools.

    Returns
    -------
    dict
        `cpu` (its name), `physical` and `logical` processors in the affinity mask, the CPU `quota`
        of the control group (None: unlimited), `team` (see `omp_threads`), `runtimes` (files of the
        OpenMP runtimes, normally one) and `pools` (thread pools of other libraries, from
        threadpoolctl).
    """
    return {
        "cpu": cpus.model(),
        "physical": cpus.physical_cores(),
        "logical": cpus.logical_processors(),
        "quota": cpus.cpu_quota(),
        "team": omp_threads(),
        "runtimes": process_threads.openmp_runtimes(),
        "pools": process_threads.pools(),
    }


__dir__ = listing(__name__)
