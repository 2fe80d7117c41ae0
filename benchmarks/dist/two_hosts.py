"""Run a multi-process program on two "hosts" of this machine, which are network namespaces.

They are connected by a link of a given rate. Needs root, ip and tc, and MPICH's mpiexec:

python benchmarks/dist/two_hosts.py -n 2 --rate 1gbit python benchmarks/dist/slow_network.py
"""

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["hosts", "run"]

_FIRST = 11  # of the hosts' addresses; the switch between them has 1


def _ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=30)


@contextlib.contextmanager
def hosts(rate=None):
    """Create two namespaces on a bridge.

    Parameters
    ----------
    rate : str, optional
        Rate at which each host sends, in tc's format; unlimited by default.

    Yields
    ------
    tuple of (str, list of str)
        The switch's namespace and those of the hosts.
    """
    switch, members = f"mx{os.getpid()}s", [f"mx{os.getpid()}h{i}" for i in range(2)]
    made = []
    try:
        for name in (switch, *members):
            _ip("netns", "add", name)
            made.append(name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", switch, "link", "add", "br0", "type", "bridge")
        _ip("-n", switch, "addr", "add", "10.77.0.1/24", "dev", "br0")
        _ip("-n", switch, "link", "set", "br0", "up")
        for i, name in enumerate(members):
            _ip(
                "-n", switch, "link", "add", f"to{i}", "type", "veth", "peer", "eth0", "netns", name
            )
            _ip("-n", switch, "link", "set", f"to{i}", "master", "br0", "up")
            _ip("-n", name, "addr", "add", f"10.77.0.{_FIRST + i}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            if rate:
                shape = ["root", "tbf", "rate", rate, "burst", "256kb", "latency", "50ms"]
                line = ["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "eth0", *shape]
                subprocess.run(line, check=True, timeout=30)
        yield switch, members
    finally:
        for name in made:
            _ip("netns", "del", name)


def run(command, processes, rate=None, timeout=300, **variables):
    """Run a command on both hosts.

    Parameters
    ----------
    command : list of str
    processes : int
        Number of processes, divided evenly between the hosts.
    rate : str, optional
        See `hosts`.
    timeout : float
        Seconds after which everything is killed.
    **variables
        Environment variables.

    Returns
    -------
    subprocess.CompletedProcess
    """
    mpiexec = str(Path(sys.executable).parent / "mpiexec")
    with hosts(rate) as (switch, members), tempfile.TemporaryDirectory() as folder:
        start = Path(folder, "start")
        cases = "".join(
            f"*.{_FIRST + i}) exec ip netns exec {name} unshare -u "
            f'bash -c "hostname host{i}; exec $*" ;;\n'
            for i, name in enumerate(members)
        )
        # called as: start [options] ADDRESS COMMAND...
        start.write_text(
            "#!/bin/bash\nwhile [[ $1 != 10.77.* ]]; do shift; done\n"
            f"address=$1; shift\ncase $address in\n{cases}esac\n",
            encoding="utf-8",
        )
        start.chmod(0o755)
        addresses = ",".join(f"10.77.0.{_FIRST + i}" for i in range(len(members)))
        each = str(processes // len(members))
        line = ["ip", "netns", "exec", switch, "timeout", "-k", "3", str(timeout)]
        line += [mpiexec, "-launcher", "ssh", "-launcher-exec", str(start)]
        line += ["-localhost", "10.77.0.1", "-hosts", addresses, "-ppn", each]
        line += ["-n", str(processes), *command]
        environment = {
            **os.environ,
            "UCX_TLS": "tcp,self",
            "UCX_NET_DEVICES": "eth0",
            "UCX_LOG_LEVEL": "error",
            "OMP_NUM_THREADS": "1",
            **variables,
        }
        process = subprocess.Popen(line, env=environment, stdin=subprocess.DEVNULL)
        try:
            code = process.wait(timeout + 10)
        finally:  # if a signal ends this program, nothing else ends the command
            process.terminate()
            process.wait()
    return subprocess.CompletedProcess(line, code)


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=2, help="processes")
    parser.add_argument("--rate", help="of the network, such as 1gbit")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit(f"two_hosts: {shlex.join(options.command)}: network namespaces need root")
    pairs = dict(pair.split("=", 1) for pair in options.env)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    done = run(options.command, options.n, options.rate, options.timeout, **pairs)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
