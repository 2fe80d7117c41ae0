"""Description of the machine."""

import importlib.metadata
import platform
import shutil
import subprocess

import mxcy as mx
from mxcy.gpu import driver
from mxcy.gpu.compile import architecture, compiler
from tests.gpu.hardware.notes import begun

#: device attributes by their numbers in the driver
ATTRIBUTES = {
    "multiprocessors": 16,
    "kilohertz": 13,
    "memory kilohertz": 36,
    "memory bus bits": 37,
    "bytes of L2": 38,
    "shared bytes of a block": 97,
    "threads of a multiprocessor": 39,
}
PACKAGES = (
    "numpy cupy-cuda13x cupy-cuda12x nvidia-cuda-nvrtc nvidia-cudnn-cu13 nvidia-cublas torch"
).split()


def versions():
    """Yield (package, version) of installed packages."""
    for name in PACKAGES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue


def main(notes):
    """Note the machine and versions."""
    notes.fact("machine", platform.platform())
    notes.fact("Python", platform.python_version())
    notes.fact("front", mx.libinfo.__version__ + " " + type(mx.nd.ones((1,))).__module__)
    notes.fact("GPUs", mx.num_gpus())
    for name, version in versions():
        notes.fact(name, version)
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv"]
        done = subprocess.run(query, capture_output=True, text=True, check=False)
        notes.fact("nvidia-smi", done.stdout.splitlines()[-1:])
    if not mx.num_gpus():
        notes.wrong("there is no GPU")
        return
    notes.fact("compiler", getattr(compiler(), "version", None))
    notes.fact("architecture", architecture(0))
    notes.fact("memory, free and total", mx.context.gpu_memory_info(0))
    for name, number in ATTRIBUTES.items():
        notes.tried(
            name, lambda name=name, number=number: notes.fact(name, driver.attribute(0, number))
        )
    x = mx.nd.arange(5, ctx=mx.gpu(0))
    notes.fact("2 * arange(5) + 1", (x * 2 + 1).asnumpy().tolist())


if __name__ == "__main__":
    from tests.gpu.standin.seam import put_under_cupy

    put_under_cupy()
    main(begun())
