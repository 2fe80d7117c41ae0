"""Create environments of the frameworks that the scoring table compares mxcy with.

``python tools/peers.py [NAME ...]`` creates ``.peers/NAME`` for each of onnxruntime, openvino,
torch and mxnet. Failed installations are reported and skipped; the table then lacks a column.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

# The CPU build is small, but only on some indexes; the default one includes CUDA.
TORCH = (["torch==2.13.0+cpu", "numpy", "setuptools"], ["torch==2.13.0", "numpy", "setuptools"])
#: name -> module to test, alternative requirements (first that installs), newest Python
PEERS = {
    "onnxruntime": ("onnxruntime", (["onnxruntime==1.31.1", "onnx==1.23.2"],), None),
    "openvino": ("openvino", (["openvino==2026.4.1"],), None),
    "torch": ("torch", TORCH, None),
    # The last MXNet needs numpy.bool, hence an old NumPy and Python.
    "mxnet": ("mxnet", (["mxnet==1.9.1", "numpy==1.23.5"],), (3, 11)),
}


def interpreter(newest):
    """Return a Python up to a version, or None."""
    if newest is None or sys.version_info[:2] <= newest:
        return sys.executable
    names = [f"python{newest[0]}.{minor}" for minor in range(newest[1], 7, -1)]
    return next(filter(None, map(shutil.which, names)), None)


def make(folder, module, choices, newest):
    """Create an environment and return the installed version.

    Raises
    ------
    RuntimeError
        If it fails; the environment is removed.
    """
    python = folder / "bin" / "python"
    version = [str(python), "-c", f"import {module}; print({module}.__version__)"]
    if python.exists() and not subprocess.run(version, capture_output=True).returncode:
        return subprocess.run(version, capture_output=True, text=True).stdout.strip()
    base = interpreter(newest)
    if base is None:
        raise RuntimeError(f"no Python of version {newest[0]}.{newest[1]} or older was found")
    problem = ""
    for requirements in choices:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([base, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        for command in ([*install, *requirements], version):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                problem = (done.stderr.strip().splitlines() or ["it failed silently"])[-1]
                break
        else:
            return done.stdout.strip()
    shutil.rmtree(folder, ignore_errors=True)
    raise RuntimeError(problem)


def main():
    """Create the requested environments."""
    parser = argparse.ArgumentParser(description="Make the environments of other frameworks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[1] / ".peers")
    options = parser.parse_args()
    unknown = set(options.names) - set(PEERS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(PEERS)}")
    for name in options.names or PEERS:
        try:
            print(f"{name:12} {make(options.folder / name, *PEERS[name])}", flush=True)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print(f"{name:12} left out: {error}", flush=True)


if __name__ == "__main__":
    main()
