"""Execution of a program in this process as if Python had been started with it."""

import builtins
import importlib.util
import io
import os
import pkgutil
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType

__all__ = ["Program"]


class Program:
    """Code to run as ``__main__``.

    Parameters
    ----------
    load : callable
        Returns the code; what it raises is reported as the program's own exception.
    argument : str
        The program's ``sys.argv[0]``.
    **described : object
        Attributes of the module ``__main__``, without their underscores.
    """

    def __init__(self, load, argument, **described):
        self._load = load
        self._argument = argument
        self._described = described
        self._folder = None

    @classmethod
    def file(cls, path):
        """Make a program of a script, or a folder or zip archive with ``__main__.py``."""
        importer = pkgutil.get_importer(path)
        if importer is None or not hasattr(importer, "find_spec"):
            return cls._script(path)
        spec = importer.find_spec("__main__")
        if spec is None:
            raise ImportError(f"can't find '__main__' module in {path!r}")
        program = cls._from_spec(spec, path)
        program._folder = path
        return program

    @classmethod
    def module(cls, name):
        """Make a program of a module or a package's ``__main__``, by name."""
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
        if spec is None:
            raise ImportError(f"No module named {name}")
        return cls._from_spec(spec, spec.origin)

    @classmethod
    def _script(cls, path):
        full_path = os.path.abspath(path)
        with io.open_code(full_path) as file:
            source = file.read()
        loader = SourceFileLoader("__main__", full_path)
        program = cls(
            lambda: compile(source, full_path, "exec"), path, file=full_path, loader=loader
        )
        program._folder = os.path.dirname(os.path.realpath(path))
        return program

    @classmethod
    def _from_spec(cls, spec, argument):
        return cls(
            lambda: spec.loader.get_code(spec.name),
            argument,
            file=spec.origin,
            loader=spec.loader,
            package=spec.parent,
            spec=spec,
            cached=spec.cached,
        )

    def run(self, arguments=()):
        """Run the program; uncaught exceptions are shown as by Python and end the process.

        Parameters
        ----------
        arguments : sequence of str
            Remaining elements of ``sys.argv``.
        """
        main = ModuleType("__main__")
        vars(main).update(__builtins__=builtins, __package__=None, __cached__=None)
        for name, value in self._described.items():
            setattr(main, f"__{name}__", value)
        sys.modules["__main__"] = main
        sys.argv[:] = [self._argument, *arguments]
        if self._folder is not None and not sys.flags.safe_path:
            sys.path[0] = self._folder  # python -m has put the current folder there
        try:
            exec(self._load(), vars(main))
        except SystemExit:
            raise
        except BaseException as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_globals is not vars(main):
                trace = trace.tb_next  # frames of this module and of imports
            sys.excepthook(type(error), error.with_traceback(trace), trace)
            # As in Python itself: 130 is the shells' status for Ctrl-C.
            sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
