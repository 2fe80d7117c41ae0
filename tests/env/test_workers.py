"""Variables of worker processes: forked ones and those of data loaders."""

import pytest

from tests.env.run import python

FORKED = """
import json, os
import mxcy as mx

def in_child(function):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, json.dumps(function()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return json.loads(os.read(reader, 1000))
"""
LOADED = """
import json, multiprocessing, sys
import mxcy as mx

def in_child(function):
    loader = mx.gluon.data.DataLoader(
        mx.gluon.data.SimpleDataset([function]), 1, num_workers=1, batchify_fn=call
    )
    return next(iter(loader))

def call(functions):
    return functions[0]()
"""
ENGINE = """
def workers():
    return mx.engine.stats()["cpu0_workers"]

if __name__ == "__main__":
    print(json.dumps([in_child(workers), workers()]))
"""


@pytest.mark.parametrize("way", [FORKED, LOADED])
@pytest.mark.parametrize(
    ("given", "expected"), [({}, [1, 3]), ({"MXNET_MP_WORKER_NTHREADS": "2"}, [2, 3])]
)
def test_engine_workers(way, given, expected):
    code = way + ENGINE
    assert python(code, MXNET_CPU_WORKER_NTHREADS="3", **given).value == expected


def test_engine_workers_that_were_spawned(tmp_path):
    program = tmp_path / "program.py"
    start = 'if __name__ == "__main__":\n    multiprocessing.set_start_method("spawn")\n'
    program.write_text(LOADED + start + ENGINE)
    variables = {"MXNET_CPU_WORKER_NTHREADS": "3", "MXNET_MP_WORKER_NTHREADS": "2"}
    assert python("-m", "program", cwd=tmp_path, **variables).value == [2, 3]


def test_parallel_team():
    # The library refuses to make a team in the child of a fork, whose threads would be missing.
    code = """
def team():
    from mxcy._library import front
    front.set_threads(2)
    return front.set_threads(2)

print(json.dumps([in_child(team), team()]))
"""
    assert python(FORKED + code, OMP_NUM_THREADS="2").value == [1, 2]


OPENCV = """
def setNumThreads(count):
    global threads
    threads = max(count, 1)  # as OpenCV does

def getNumThreads():
    return threads

threads = 8
"""


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("way", [FORKED, LOADED])
@pytest.mark.parametrize(("text", "threads"), [(None, 1), ("0", 1), ("3", 3)])
def test_opencv_threads(tmp_path, imported, way, text, threads):
    (tmp_path / "cv2.py").write_text(OPENCV)
    code = f"""
if {imported}:
    import cv2

def threads():
    import cv2
    return cv2.getNumThreads()

print(json.dumps([in_child(threads), threads()]))
"""
    done = python(way + code, cwd=tmp_path, MXNET_MP_OPENCV_NUM_THREADS=text)
    assert done.value == [threads, 8]


def test_opencv_need_not_be_there(tmp_path):
    code = """
def attempt():
    import sys
    sys.path = [folder for folder in sys.path if "packages" not in folder]
    try:
        import cv2
    except ImportError as error:
        return str(error)

print(json.dumps(in_child(attempt)))
"""
    assert python(FORKED + code, cwd=tmp_path).value == "No module named 'cv2'"


@pytest.mark.parametrize(
    ("name", "text"), [("MXNET_MP_WORKER_NTHREADS", "0"), ("MXNET_MP_OPENCV_NUM_THREADS", "few")]
)
def test_bad_values(name, text):
    assert f"{name}={text!r}" in python("import mxcy", fails=True, **{name: text}).err
