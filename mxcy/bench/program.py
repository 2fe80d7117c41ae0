"""The command line of ``mxcy-bench``."""

import argparse
import json

import mxcy as mx
from mxcy._base.files import replacing
from mxcy._base.suggestions import did_you_mean
from mxcy.bench import bandwidth, calls, clock, score, training
from mxcy.bench.output import writable
from mxcy.gluon.model_zoo.vision import model_names

__all__ = ["main"]

_TABLES = {"score": score, "train": training, "calls": calls, "bandwidth": bandwidth}


def _named(kind, known):
    """Return an `argparse` type for an argument with a fixed set of names."""

    def read(text):
        if text.lower() not in known:
            near = did_you_mean(text, known)
            raise argparse.ArgumentTypeError(f"unknown {kind} {text!r}{near}")
        return text

    return read


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a positive number of samples, got {number}")
    return number


def _parser():
    parser = argparse.ArgumentParser(
        prog="mxcy-bench", description="Measure mxcy on this machine, which should be idle."
    )
    which = parser.add_subparsers(dest="table", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", type=writable, help="file to write all figures to")
    common.add_argument("--seconds", type=float, help="approximate duration per figure")

    def table(name, seconds, **about):
        command = which.add_parser(name, parents=[common], **about)
        command.set_defaults(seconds=seconds)
        return command

    zoo = model_names()
    command = table("score", 2.0, help="images per second of networks")
    usual = ["resnet50_v1", "mobilenetv2_1.0"]
    command.add_argument("--network", nargs="+", type=_named("network", zoo), default=usual)
    command.add_argument("--batch-size", nargs="+", type=_positive, default=[1, 8])
    command.add_argument("--size", type=_positive, help="height and width of images; 224, or 299")
    command.add_argument("--precision", choices=score.PRECISIONS, default="float32")
    command = table("train", 2.0, help="milliseconds of a training step")
    usual = [*training.NETWORKS, "resnet18_v1"]
    network = _named("network", [*training.NETWORKS, *zoo])
    text = f"of {usual}, or of the model zoo"
    command.add_argument("--network", nargs="+", type=network, default=usual, help=text)
    command.add_argument("--batch-size", type=_positive, help="samples in a batch")
    command.add_argument("--size", type=_positive, default=224, help="height and width of images")
    optimizers = mx.optimizer.Optimizer.opt_registry
    command.add_argument("--optimizer", type=_named("optimizer", optimizers), default="sgd")
    table("calls", 0.2, help="nanoseconds of small calls")
    command = table("bandwidth", 0.3, help="gigabytes per second of memory-bound operators")
    command.add_argument("--megabytes", type=float, default=64.0, help="of an array")
    return parser


def main(arguments=None):
    """Measure one table and print it.

    Parameters
    ----------
    arguments : list of str, optional
        The command line.
    """
    options = _parser().parse_args(arguments)
    table, about = _TABLES[options.table], clock.machine()
    results = table.cells(options)
    for line in table.lines(results):
        print(line)
    line = ", ".join(f"{name} {value}" for name, value in about.items())
    print(line)
    if options.json:
        report = {"table": options.table, "machine": about, "cells": results}
        with replacing(options.json) as file:
            file.write(json.dumps(report, indent=1).encode())
