"""Small modules of MXNet's interface: devices, loggers, error classes, old schedulers, CUDA."""

import array
import ctypes
import logging
import re

import pytest

import mxcy as mx


def test_devices_are_contexts():
    assert mx.Device is mx.device.Device is mx.Context
    assert mx.device.cpu(2) == mx.cpu(2) and mx.device.num_gpus() == mx.num_gpus()
    with mx.Device("cpu", 3):
        assert mx.current_device() == mx.device.current_device() == mx.cpu(3)


def test_logger_on_standard_error(capfd):
    logger = mx.log.get_logger("tests.log.standard", level=mx.log.INFO)
    assert mx.log.get_logger("tests.log.standard") is logger and len(logger.handlers) == 1
    logger.info("seven %d", 7)
    logger.debug("hidden")
    logger.warning("careful")
    info, warning = capfd.readouterr().err.splitlines()
    place = (
        r"I\d{4} \d\d:\d\d:\d\d \d+ .*test_small_modules.py:test_logger\w*:\d+\]\x1b\[0m seven 7"
    )
    assert re.fullmatch(r"\x1b\[32m" + place, info)
    assert warning.startswith("\x1b[31mW") and warning.endswith(" careful")


def test_logger_in_a_file(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("before\n")
    with pytest.warns(DeprecationWarning, match="get_logger"):
        logger = mx.log.getLogger("tests.log.file", str(path))
    logger.error("text")
    logger.handlers[0].close()
    assert path.read_text() == "before\ntext\n"
    assert mx.log.get_logger() is logging.getLogger() is not logger


def test_kinds_of_errors():
    assert mx.error.error_types["ValueError"] is ValueError
    with pytest.raises(mx.MXNetError, match="oops\nMXNet hint"):
        raise mx.error.InternalError("oops")
    assert str(mx.error.InternalError("MXNet hint: a")) == "MXNet hint: a"

    @mx.error.register
    class Odd(mx.MXNetError):
        pass

    @mx.error.register("Even")
    class Other(mx.MXNetError):
        pass

    actual = mx.error.error_types
    assert actual.pop("Odd") is Odd and actual.pop("Even") is Other
    assert mx.error.register("Third", Odd) is Odd and actual.pop("Third") is Odd


def test_old_schedule(caplog):
    schedule = mx.misc.FactorScheduler(step=10, factor=0.5)
    schedule.base_lr = 0.8
    with caplog.at_level(logging.INFO):
        assert [schedule(i) for i in (0, 9, 10, 25)] == pytest.approx([0.8, 0.8, 0.4, 0.2])
    assert len(caplog.records) == 2
    for settings in ({"step": 0}, {"step": 1, "factor": 1.0}):
        with pytest.raises(ValueError, match="FactorScheduler"):
            mx.misc.FactorScheduler(**settings)
    with pytest.raises(NotImplementedError):
        mx.misc.LearningRateScheduler()(0)


def test_no_cuda():
    with pytest.raises(mx.MXNetError, match="CudaModule: there is no GPU"):
        mx.rtc.CudaModule("__global__ void f() {}", exports=["f"])


def test_calls_of_c_functions():
    base = mx.base
    assert base.py_str(base.c_str("naïve").value) == "naïve"
    assert [base.py_str(text) for text in base.c_str_array(["a", "ä"])] == ["a", "ä"]
    assert list(base.c_array(base.mx_uint, [3, 4])) == [3, 4]
    numbers = array.array("f", [1, 2])
    base.c_array_buf(base.mx_float, numbers)[1] = 5
    assert numbers[1] == 5
    text = ctypes.create_string_buffer(b"abc")
    pointer = ctypes.cast(text, ctypes.POINTER(ctypes.c_char))
    assert base.ctypes2buffer(pointer, 2) == bytearray(b"ab")
    with pytest.raises(TypeError, match="char pointer"):
        base.ctypes2buffer(b"ab", 2)
    assert base.check_call(0) is None
    with pytest.raises(mx.MXNetError):
        base.check_call(-1)
    assert base.error_types is mx.error.error_types and base.register_error is mx.error.register
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        base.nothing  # noqa: B018
