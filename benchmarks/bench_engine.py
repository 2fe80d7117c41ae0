"""Trivial engine operations per second, on one core."""

import shutil
import subprocess
from pathlib import Path

import pytest

from mxcy import libinfo

SOURCE = Path(__file__).with_name("engine_throughput.cc")
KERNELS = Path(__file__).parents[1] / "kernels"
CASES = ("one variable", "two variables", "bulks of 16")


def test_throughput(tmp_path, benchmark, announce):
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    library, program = libinfo.find_lib_path()[0], tmp_path / "throughput"
    subprocess.run(
        [
            compiler,
            "-std=c++17",
            "-O2",
            "-pthread",
            f"-I{KERNELS}",
            f"-I{KERNELS}/include",
            SOURCE,
            library,
            f"-Wl,-rpath,{Path(library).parent}",
            "-o",
            program,
        ],
        check=True,
    )

    def run():
        return subprocess.run([program], check=True, text=True, capture_output=True).stdout

    found = [float(number) for number in benchmark.pedantic(run, rounds=2).split()]
    announce(
        "operations pushed and run, a second, one core",
        [f"{name:20}{number:12.0f}" for name, number in zip(CASES, found, strict=True)],
    )
