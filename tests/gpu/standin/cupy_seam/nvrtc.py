"""Replacement of CuPy's NVRTC by g++: images are shared libraries for this CPU."""

import itertools

from tests.gpu.standin.compiler import HEADERS, LaunchError, compile_text, instance_name

__all__ = ["install"]


class _Program:
    def __init__(self, source):
        self.source, self.instances, self.image, self.log = source, [], b"", ""


def _usable(option):
    """Return whether to pass an option to g++: definitions, and CuPy's own headers."""
    return option.startswith("-D") or (option.startswith("-I") and "cupy" in option)


def install():
    """Replace the functions of `cupy_backends.cuda.libs.nvrtc`."""
    from cupy_backends.cuda.libs import nvrtc

    class Refusal(nvrtc.NVRTCError):
        """A compilation error with a text; CuPy's class asks the real library for it."""

        def __init__(self, text):
            RuntimeError.__init__(self, text)

    programs, numbers = {}, itertools.count(1)

    def create(source, name, headers, include_names):
        number = next(numbers)
        programs[number] = _Program(source)
        return number

    def compile_program(number, options):
        program = programs[number]
        own = (f"-I{HEADERS / 'include'}", "-D__CUDACC_VER_MAJOR__=13")
        try:
            options = (*filter(_usable, options), *own)
            library = compile_text(program.source, options, program.instances)
        except LaunchError as error:
            program.log = str(error)
            raise Refusal("NVRTC_ERROR_COMPILATION") from None
        program.image = library.read_bytes()

    nvrtc.getVersion = lambda: (13, 0)  # CuPy asks for supported architectures
    nvrtc.createProgram, nvrtc.compileProgram = create, compile_program
    nvrtc.destroyProgram = programs.pop
    nvrtc.addNameExpression = lambda number, text: programs[number].instances.append(text)
    nvrtc.getLoweredName = lambda number, text: instance_name(text)
    nvrtc.getCUBIN = lambda number: programs[number].image
    nvrtc.getPTX = lambda number: b"// compiled by g++\n"  # part of CuPy's cache key
    nvrtc.getProgramLog = lambda number: programs[number].log
