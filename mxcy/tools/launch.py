"""Start a distributed job: ``python -m mxcy.tools.launch -n 4 python train.py``.

It runs a single mpiexec, of MPICH or Open MPI, and exits when that does.
"""

import argparse
import contextlib
import ctypes
import math
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mxcy import env
from mxcy.dist.hostfile import read_hosts
from mxcy.dist.members.requests import REQUESTS
from mxcy.tools import jobs, rank

__all__ = ["job_line", "main", "parse"]

_LAUNCHERS = ("local", "ssh", "mpi", "sge", "slurm", "yarn")
_GRACE = 1.0  # seconds that a job gets to end on its own
_PR_SET_PDEATHSIG = 1


def parse(arguments):
    """Parse a command line.

    Parameters
    ----------
    arguments : list of str

    Returns
    -------
    argparse.Namespace
    """
    parser = argparse.ArgumentParser(
        prog="launch.py", description="Start a distributed training job."
    )
    add = parser.add_argument
    add("-n", "--num-workers", required=True, type=_count(1), help="number of workers")
    add("-s", "--num-servers", type=_count(0), help="number of servers; default: that of workers")
    add("-H", "--hostfile", help="file with one machine per line, and optionally :processes")
    add("--launcher", choices=_LAUNCHERS, help="how to start processes; ssh with -H, else local")
    add("--sync-dst-dir", help="copy the current folder there on all machines, with rsync")
    add("--p3", action="store_true", help="send slices by priority")
    add("--env-server", action="append", default=[], type=_pair, help="NAME:VALUE for servers")
    add("--env-worker", action="append", default=[], type=_pair, help="NAME:VALUE for workers")
    add("--env", action="append", default=[], help="pass this variable to other machines")
    add("--max-restarts", type=_count(0), default=0, help="restart the job when it fails")
    add("--min-workers", type=_count(1), help="continue with this many when workers die (Open MPI)")
    add("--join", type=_count(1), metavar="JOB", help="add workers to the job of this launcher")
    add("--timeout", type=float, default=0, help="end the job after this many seconds")
    add("--engine", choices=("mpich", "openmpi"), help="reject the mpiexec of another library")
    add("--dry-run", action="store_true", help="print the command line without running it")
    add("command", nargs=argparse.REMAINDER, help="command of every process")
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        del options.command[0]
    if options.join and options.command:
        parser.error("--join: the new workers run the program of the job; give no command")
    if not options.command and not options.join:
        parser.error("a command to run is required")
    if options.launcher == "yarn":
        parser.error("yarn is not supported: use slurm, sge, or ssh with a hostfile")
    if options.launcher is None:
        options.launcher = "ssh" if options.hostfile else "local"
    if options.launcher == "ssh" and not options.hostfile:
        parser.error("the launcher ssh needs a hostfile: -H")
    if options.min_workers and options.num_servers:
        parser.error("--min-workers: values on servers would be lost with them; use -s 0")
    if options.num_servers is None:
        options.num_servers = 0 if options.min_workers else options.num_workers
    return options


def _count(least):
    def count(text):
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"expected {least} or more, got {text}")
        return number

    return count


def _pair(text):
    name, colon, value = text.partition(":")
    if not colon or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME:VALUE")
    return name, value


def _mpiexec(engine):
    """Find mpiexec, first next to this Python; return its path and library."""
    candidate = Path(sys.executable).parent / "mpiexec"
    path = str(candidate) if candidate.exists() else "mpiexec"
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30)
    except OSError:
        sys.exit("launch: mpiexec not found; 'pip install mxcy[dist]' has MPICH's")
    kind = "openmpi" if "open mpi" in done.stdout.lower() else "mpich"
    if engine not in (None, kind):
        sys.exit(f"launch: {path} is of {kind}, not of {engine}")
    return path, kind


def _variables(options, attempt):
    """Environment variables of all processes."""
    processes = options.num_workers + options.num_servers
    machines = len(read_hosts(options.hostfile)) if options.hostfile else 1
    cores = len(os.sched_getaffinity(0))
    here = math.ceil(processes / machines)
    address = "127.0.0.1" if options.launcher == "local" else socket.gethostname()
    variables = {
        "DMLC_PS_ROOT_URI": address,
        "DMLC_PS_ROOT_PORT": str(_free_port()),
        "DMLC_NUM_WORKER": str(options.num_workers),
        "DMLC_NUM_SERVER": str(options.num_servers),
        "DMLC_JOB_CLUSTER": options.launcher,
        "DMLC_NUM_ATTEMPT": str(attempt),
        "UCX_LOG_LEVEL": "error",
    }
    if options.p3:
        variables["DMLC_PS_VAN_TYPE"] = "p3"
    if options.min_workers:
        variables["MXCY_DIST_MIN_WORKERS"] = str(options.min_workers)
        variables["MXCY_DIST_REPLACEMENTS"] = str(options.max_restarts)
    workers = math.ceil(options.num_workers / machines)
    if options.launcher == "local":
        if not env.raw("OMP_NUM_THREADS"):
            variables["OMP_NUM_THREADS"] = str(max(1, cores // workers))
        if here > cores:
            variables["MPIR_CVAR_POLLS_BEFORE_YIELD"] = "1"
            variables["OMPI_MCA_mpi_yield_when_idle"] = "1"
    for name in options.env:
        value = env.raw(name)
        if value is not None:
            variables[name] = value
    return variables


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def job_line(options, path, kind, attempt=0, folder=None):
    """Return the command line of a job.

    Parameters
    ----------
    options : argparse.Namespace
    path : str
        Path of mpiexec.
    kind : {'mpich', 'openmpi'}
        Its library.
    attempt : int
        Number of previous failures.
    folder : str, optional
        Folder where processes on this machine are registered.

    Returns
    -------
    list of str
    """
    line = [path]
    variables = _variables(options, attempt)
    if folder and options.launcher == "local":
        variables["MXCY_JOB_FOLDER"] = folder
    if kind == "mpich":
        line += {"local": ["-launcher", "fork"], "mpi": []}.get(
            options.launcher, ["-launcher", options.launcher]
        )
        line += ["-f", options.hostfile] if options.hostfile else []
        for name, value in variables.items():
            line += ["-genv", name, value]
    else:
        line += ["--with-ft", "ulfm"] if options.min_workers else []
        line += ["--oversubscribe"] if options.launcher == "local" else []
        line += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        line += ["--hostfile", options.hostfile] if options.hostfile else []
        for name, value in variables.items():
            line += ["-x", f"{name}={value}"]
    sections = [("worker", options.num_workers, options.env_worker)]
    if options.num_servers:
        sections.append(("server", options.num_servers, options.env_server))
    for role, count, extra in sections:
        line += [":"] if role == "server" else []
        line += ["-n", str(count)]
        own = {"DMLC_ROLE": role, **dict(extra)}
        if kind == "mpich":
            for name, value in own.items():
                line += ["-env", name, value]
        else:
            line += ["env", *(f"{name}={value}" for name, value in own.items())]
        line += [sys.executable, rank.__file__, *options.command]
    return line


def _synchronize(options):
    """Copy the current folder to all machines."""
    for host in read_hosts(options.hostfile):
        target = f"{host}:{options.sync_dst_dir}"
        subprocess.run(["rsync", "-az", "--delete", f"{os.getcwd()}/", target], check=True)


def _tie_to_parent():
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _run(line, timeout, folder):
    """Run a job; return its exit code, or 124 after a timeout."""
    process = subprocess.Popen(line, start_new_session=True, preexec_fn=_tie_to_parent)
    stopped = []

    def stop(number, frame):
        stopped.append(number)
        _end(process)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with jobs.noted(process.pid, folder):
            try:
                code = process.wait(timeout or None)
            except subprocess.TimeoutExpired:
                print(f"launch: the job took longer than {timeout:g} seconds", file=sys.stderr)
                _end(process)
                return 124, True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopped:
        return 128 + stopped[0], True
    return (128 - code if code < 0 else code), False


def _end(process):
    """End a job, gracefully first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        deadline = time.monotonic() + _GRACE
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)


def main(arguments=None):
    """Run the program.

    Parameters
    ----------
    arguments : list of str, optional
        Command line; by default that of this process.

    Returns
    -------
    int
        Exit code: 0 if all processes exited with 0.
    """
    options = parse(sys.argv[1:] if arguments is None else arguments)
    if options.join:
        obstacle = jobs.ask_to_join(options.join, options.num_workers)
        if obstacle:
            print(f"launch: no worker has joined: {obstacle}", file=sys.stderr)
        return int(bool(obstacle))
    path, kind = _mpiexec(options.engine)
    if options.min_workers and kind != "openmpi":
        sys.exit("launch: --min-workers needs Open MPI; 'pip install mxcy[dist-ft]' has it")
    if options.dry_run:
        print(shlex.join(job_line(options, path, kind)))
        return 0
    if options.sync_dst_dir:
        _synchronize(options)
    for attempt in range(options.max_restarts + 1):
        with tempfile.TemporaryDirectory(prefix="mxcy-job-") as folder:
            line = job_line(options, path, kind, attempt, folder)
            code, stopped = _run(line, options.timeout, folder)
            notes = sorted(name for name in os.listdir(folder) if name != REQUESTS)
            jobs.free_memory(folder, notes)
        later = [name for name in notes if name.startswith("goodbye")]
        remaining = [name for name in notes if name not in later]
        # after a change of workers MPI is not finalized, for which mpiexec returns 1
        if options.min_workers and notes and not stopped:
            left = options.num_workers + len(later) - len(remaining)
            code = 0 if left >= options.min_workers else code or 1
        elif code == 0 and remaining:
            code = 1
        if remaining and code in (0, 1) and not stopped:
            print(f"launch: ended without a goodbye: {', '.join(remaining)}", file=sys.stderr)
        if code == 0 or stopped:
            break
        if attempt < options.max_restarts:
            print(f"launch: the job ended with code {code}; restarting it", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
