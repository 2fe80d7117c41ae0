"""Loading and language binding."""

from mxcy.env.kinds import flag, one_of, path
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_ENABLE_CYTHON", flag, True, "I", "mxcy._library.front",
             "Use the Cython front; 0 selects the ctypes front without trying to import the other.",
             test="env/test_loading.py::test_enable_cython"),
    Variable("MXNET_ENFORCE_CYTHON", flag, False, "I", "mxcy._library.front",
             "With the Cython front enabled: fail instead of falling back if it cannot be loaded.",
             under=("MXNET_ENABLE_CYTHON",),
             test="env/test_loading.py::test_enforce_cython"),
    Variable("MXNET_LIBRARY_PATH", path, None, "I", "mxcy.libinfo",
             "The native library libmxcy.so, or its folder.",
             test="env/test_loading.py::test_library_path"),
    Variable("MXNET_INCLUDE_PATH", path, None, "C", "mxcy.libinfo",
             "The folder of the C header that find_include_path() returns.",
             test="env/test_loading.py::test_include_and_conf_path"),
    Variable("MXNET_CONF_PATH", path, None, "C", "mxcy.libinfo",
             "The configuration file that find_conf_path() returns.",
             test="env/test_loading.py::test_include_and_conf_path"),
    Variable("MXNET_ENV_STRICT", flag, None, "I", "mxcy.env.environment",
             "1: unknown variable names, and values without effect on this machine, are "
             "errors instead of warnings. 0: also a MXNET_LIBRARY_PATH that cannot be used is only "
             "a warning.",
             test="env/test_loading.py::test_env_strict"),
    Variable("MXCY_ISA", one_of("v2", "v3", "v4"), None, "I", "mxcy._library.front",
             "The x86-64 level of the kernels to use; default: the best for this CPU. "
             "Other architectures have one build.",
             test="env/test_loading.py::test_isa_level"),
    Variable("MXCY_MXNET", one_of("1.9", "2.0"), "1.9", "I", "mxcy.profile",
             "The MXNet generation to follow where 1.x and 2.x differ: names and files of "
             "parameters, defaults of optimizers, NumPy semantics after import; docs/gluon2.md.",
             test="env/test_loading.py::test_mxnet_profile"),
)
