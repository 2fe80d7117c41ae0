"""Real MXNet installations, named by environment variables, for exchanging files.

MXCY_REAL_MXNET_19 and MXCY_REAL_MXNET_20 name Pythons that have MXNet 1.9.1 and 2.0.0b1.
"""

import json
import os
import subprocess

import pytest

VERSIONS = ("19", "20")


def python_of(version):
    """The Python of a real MXNet, or None."""
    return os.environ.get(f"MXCY_REAL_MXNET_{version}")


def skip_without_any():
    """Skip the module being collected if no real MXNet is named: one skip for all tests."""
    if not any(map(python_of, VERSIONS)):
        names = " and ".join(f"MXCY_REAL_MXNET_{version}" for version in VERSIONS)
        pytest.skip(f"{names} name no Python with a real MXNet", allow_module_level=True)


class Original:
    """A real MXNet that runs a script in a folder; skips the test if it is not named.

    Parameters
    ----------
    version : {'19', '20'}
    script, folder : Path
    """

    def __init__(self, version, script, folder):
        self.version, self.folder, self._script = version, folder, script
        self._python = python_of(version)
        if not self._python:
            pytest.skip(f"MXCY_REAL_MXNET_{version} names no Python with a real MXNet")

    def __call__(self, *arguments, **variables):
        """Run the script; returns the last line of its output, parsed as JSON."""
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [self._python, "-W", "ignore", str(self._script), *map(str, arguments)],
            cwd=self.folder,
            env={**environment, **variables},
            text=True,
            capture_output=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


def fixture_for(script):
    """A fixture that runs a test with each `Original`."""

    @pytest.fixture(params=VERSIONS)
    def real(request, tmp_path):
        return Original(request.param, script, tmp_path)

    return real
