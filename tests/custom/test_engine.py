"""Custom operators on every engine, after forks, and concurrently."""

import json
import threading

import numpy as np
import pytest

import mxcy as mx
from tests.custom import operators  # noqa: F401  it registers them

#: an operator that waits for another one and for the program, PATIENCE seconds at most
MEET = """
import os, threading
import mxcy as mx

meeting, ended = threading.Barrier(3), []  # both operators, and the program

def meet():
    try:
        meeting.wait(PATIENCE)
        return True
    except threading.BrokenBarrierError:
        return False

class Meet(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        meet()
        ended.append(1)
        self.assign(out_data[0], req[0], in_data[0] + 1)

@mx.operator.register("meet")
class MeetProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Meet()
"""
TWO = """
x = mx.nd.array([1.0])
outputs = [mx.nd.Custom(x, op_type="meet") for _ in range(2)]
print(len(ended) < 2, meet())
assert sum(y.asscalar() for y in outputs) == 4
"""


@pytest.mark.parametrize("workers, at_once", [(1, "False"), (2, "True")])
def test_as_many_at_once_as_there_are_workers(run_python, workers, at_once):
    code = (MEET + TWO).replace("PATIENCE", "0.5" if workers == 1 else "60")
    text = run_python(
        code, MXNET_CPU_WORKER_NTHREADS=str(workers), MXNET_ENGINE_TYPE="ThreadedEnginePerDevice"
    )
    assert text.split() == ["True", at_once]


def test_naive_engine_computes_at_the_call(run_python):
    code = (MEET + TWO).replace("PATIENCE", "0.1")
    assert run_python(code, MXNET_ENGINE_TYPE="NaiveEngine").split() == ["False", "False"]


def test_errors_of_the_naive_engine_come_at_the_call(run_python):
    code = """
from tests.custom import operators
import mxcy as mx
x = mx.nd.array([1.0])
try:
    mx.nd.Custom(x, op_type="test_broken", where="forward")
except mx.MXNetError as error:
    print(error)
"""
    assert "forward: ValueError: it rains" in run_python(code, MXNET_ENGINE_TYPE="NaiveEngine")


def test_after_a_fork(run_python):
    code = """
import os
from tests.custom import operators
import mxcy as mx
x = mx.nd.array([3.0])
print(mx.nd.Custom(x, op_type="test_square").asscalar(), flush=True)
child = os.fork()
if child == 0:
    print(mx.nd.Custom(x + 1, op_type="test_square").asscalar(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(mx.nd.Custom(x + 2, op_type="test_square").asscalar())
"""
    assert run_python(code).split() == ["9.0", "16.0", "25.0"]


def test_a_fork_waits_for_operators(run_python):
    code = (
        MEET.replace("PATIENCE", "0.3")
        + """
y = mx.nd.Custom(mx.nd.array([1.0]), op_type="meet")
child = os.fork()
if child == 0:
    print(y.asscalar(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(y.asscalar())
"""
    )
    assert run_python(code).split() == ["2.0", "2.0"]


def test_pending_operators_finish_at_exit(run_python):
    code = (
        MEET.replace("PATIENCE", "0.3")
        + """
class Told(Meet):
    def forward(self, *args, **kwargs):
        super().forward(*args, **kwargs)
        print("done", flush=True)

MeetProp.create_operator = lambda *args: Told()
y = mx.nd.Custom(mx.nd.array([1.0]), op_type="meet")
"""
    )
    assert run_python(code).split() == ["done"]


EAGER = """
with mx.autograd.record():
    y = mx.nd.Custom(x, op_type="test_square")
y.backward()
"""
BY_AN_EXECUTOR = """
symbol = mx.sym.Custom(mx.sym.var("x"), op_type="test_square")
executor = symbol.bind(mx.cpu(), {"x": x}, args_grad={"x": x.grad})
(y,) = executor.forward(is_train=True)
executor.backward(mx.nd.ones(1))
"""


@pytest.mark.parametrize("calls", [EAGER, BY_AN_EXECUTOR])
def test_the_profiler_records_them(run_python, calls):
    """Their Python code and the operators called there have a separate category."""
    code = f"""
import json
from tests.custom import operators
import mxcy as mx
mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="profile.json")
x = mx.nd.array([3.0])
x.attach_grad()
mx.profiler.set_state("run")
{calls}
z = y + 1
mx.nd.waitall()
mx.profiler.set_state("stop")
print(json.dumps({{
    category: {{name: row["Count"] for name, row in rows.items()}}
    for category, rows in json.loads(mx.profiler.dumps(format="json"))["Time"].items()
}}))
"""
    counts = json.loads(run_python(code))
    assert counts["Custom Operator"] == {
        "test_square::pure_python": 1,
        "test_square::broadcast_mul": 1,
        "_backward_test_square::pure_python": 1,
        "_backward_test_square::_mul_scalar": 1,
        "_backward_test_square::broadcast_mul": 1,
    }
    assert counts["operator"]["_plus_scalar"] == 1
    assert not {"broadcast_mul", "_mul_scalar"} & counts["operator"].keys()


def test_an_operator_that_waits_for_another():
    """It reads an array other than its inputs, which is computed later in the queue."""

    class Reader(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            assert called.wait(20)
            self.assign(out_data[0], req[0], in_data[0] + later[0])

    @mx.operator.register("test_reader")
    class ReaderProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Reader()

    if mx.engine.stats()["type"] == "NaiveEngine":
        pytest.skip("NaiveEngine has no queue")
    later, called = [], threading.Event()
    x = mx.nd.array([3.0])
    y = mx.nd.Custom(x, op_type="test_reader")
    later.append(mx.nd.Custom(x, op_type="test_square"))
    called.set()
    np.testing.assert_array_equal(y.asnumpy(), [12])
