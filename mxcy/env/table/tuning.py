"""Serial or parallel."""

from mxcy.env.kinds import flag, integer, number, tuned
from mxcy.env.variable import Variable

_OFF = ("MXNET_CPU_PARALLEL_SIZE", "MXNET_ENFORCE_DETERMINISM")

ROWS = (
    Variable("MXNET_CPU_PARALLEL_SIZE", integer(0), 200000, "F", "mxcy._library.front",
             "Calls that are not tuned use one thread for arrays with fewer elements. "
             "If set, no call is tuned.",
             test="env/test_tuning.py::test_parallel_size_is_a_threshold"),
    Variable("MXNET_USE_OPERATOR_TUNING", tuned, True, "F", "mxcy._machine.tuning.tuner",
             "1: decide whether a call is worth several threads by measuring its kernel; 0: by "
             "MXNET_CPU_PARALLEL_SIZE, so large calls are always parallel. A comma list of "
             "float16, bfloat16, float32, float64, int8, uint8, int32, int64: measure for these.",
             aliases=("MXNET_ENABLE_OPERATOR_TUNING",), under=_OFF,
             test="env/test_tuning.py::test_a_list_of_types"),
    Variable("MXNET_USE_NUM_CORES_OPERATOR_TUNING", integer(0), None, "F",
             "mxcy._machine.tuning.tuner",
             "The cost of a parallel region is the median over 2 to this many threads; below 2 no "
             "tuned call is parallel. Default: the cost with the current team.", under=_OFF,
             test="env/test_tuning.py::test_one_core_never_pays"),
    Variable("MXNET_TUNING_WEIGHT_SCALE", number(0.0), 0.0, "F", "mxcy._machine.tuning.tuner",
             "If above 0.01, measured times per element are divided by it.", under=_OFF,
             test="env/test_tuning.py::test_weight_scale_moves_the_threshold"),
    Variable("MXNET_OPERATOR_TUNING_CACHE", flag, True, "F", "mxcy._machine.tuning.tuner",
             "0: do not store measurements in op_tuning/ under MXNET_HOME.", under=_OFF,
             test="env/test_tuning.py::test_cache"),
    Variable("MXNET_OUTPUT_TUNING_DATA", flag, False, "F", "mxcy._machine.tuning.tuner",
             "1: print the measurements at exit: one line of JSON, like the file "
             "in op_tuning/.", under=_OFF,
             test="env/test_tuning.py::test_output_is_a_file_for_the_next_process"),
    Variable("MXNET_VERBOSE_TUNING_INFO", flag, False, "F", "mxcy._machine.tuning.tuner",
             "1: print each measurement to standard error.", under=_OFF,
             test="env/test_tuning.py::test_verbose"),
)
