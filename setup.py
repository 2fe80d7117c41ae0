"""Build libmxcy.so (leaf kernels once per ISA level) and the Cython modules that link to it."""

import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

ROOT = Path(".")
KERNELS = ROOT / "kernels"
os.chdir(Path(__file__).resolve().parent)
#: Builds of the leaf kernels per architecture: name, (ISA level, compiler flags).
ISA_LEVELS = {
    "x86_64": {
        "v2": (2, "-march=x86-64-v2 -O2"),  # few CPUs: small rather than fast
        "v3": (3, "-march=x86-64-v3"),
        "v4": (4, "-march=x86-64-v4 -mprefer-vector-width=512"),
    },
    "aarch64": {"neon": (2, "")},
}
#: Flags for all files, per architecture; kernels assume that char is signed.
MACHINE_FLAGS = {"x86_64": [], "aarch64": ["-fsigned-char"]}
CXX_FLAGS = (
    "-std=c++17 -O3 -fPIC -fopenmp -fvisibility=hidden -fno-exceptions -fno-math-errno"
    " -fno-trapping-math -ffp-contract=off -Wall -Wextra -Wno-unused-parameter"
).split()
#: What leaf kernels include first, compiled once per ISA level. GCC forgets the pragmas in it that
#: silence the intrinsics' own warnings; the sanitized build, which does without, gives ours.
PRECOMPILED = "leaf/precompiled.h"
WITH_PRECOMPILED = (
    f"-include {PRECOMPILED} -fpch-deps -Wno-uninitialized -Wno-maybe-uninitialized"
).split()
LINK_FLAGS = (
    "-shared -fopenmp -static-libgcc -Wl,--no-undefined -Wl,-soname,libmxcy.so"
    " -Wl,--enable-new-dtags -Wl,-rpath,$ORIGIN"
).split()
OPENMP = "libgomp.so.1"
#: Flags of the sanitized build: compiles in half the time of -O3 -g, to a third of its size.
SANITIZE = (
    "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
)
CYTHON_DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "embedsignature": False,
    "freethreading_compatible": False,  # see docs/platforms.md
}


#: Build switches of MXNet that are still in use, and what replaces them.
OLD_SWITCHES = {
    **dict.fromkeys(
        ("USE_MKL2017", "USE_MKL2017_EXPERIMENTAL", "USE_MKLDNN", "USE_ONEDNN"),
        "oneDNN is loaded at run time, if installed: pip install 'mxcy[onednn]'",
    ),
    "USE_PROFILER": "the profiler is always built: MXNET_PROFILER_AUTOSTART=1 starts it",
    "USE_CUDA": "CUDA is loaded at run time, if installed: pip install 'mxcy[cuda13]'",
}


def cython_extensions():
    """One extension per mxcy/_cy/**/*.pyx, linked to libmxcy.so by a relative rpath."""
    for path in sorted((ROOT / "mxcy" / "_cy").rglob("*.pyx")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        up = "/".join([".."] * (len(parts) - 2))
        yield Extension(
            ".".join(parts),
            [str(path.relative_to(ROOT))],
            include_dirs=["kernels", "kernels/include"],
            extra_compile_args=["-O2", "-g0", "-fopenmp", "-fno-math-errno", "-fno-trapping-math"],
            extra_link_args=["-l:libmxcy.so", f"-Wl,-rpath,$ORIGIN/{up}", "-fopenmp"],
            depends=[str(p) for p in (ROOT / "mxcy" / "_cy").glob("*.pxd")]
            + [str(p) for p in (KERNELS / "include").glob("*.h")],
        )


class Build(build_ext):
    """build_ext that builds libmxcy.so first, recompiling only what has changed."""

    user_options = build_ext.user_options + [
        ("isa=", None, "comma-separated ISA levels to build the kernels for (v2,v3,v4, or neon)"),
        ("sanitize", None, "build the library with the address and undefined behaviour sanitizers"),
    ]
    boolean_options = build_ext.boolean_options + ["sanitize"]

    def initialize_options(self):
        super().initialize_options()
        self.isa = None
        self.sanitize = False

    def finalize_options(self):
        ctypes_alone = self.get_finalized_command("bdist_wheel").ctypes_alone
        library_only = ctypes_alone or self.sanitize
        self.parallel = self.parallel or os.cpu_count()
        self.distribution.ext_modules = [] if library_only else list(cython_extensions())
        super().finalize_options()
        self.machine = _machine()
        known = ISA_LEVELS[self.machine]
        self.levels = tuple(self.isa.split(",")) if self.isa else tuple(known)
        unknown = set(self.levels) - set(known)
        if unknown:
            raise SystemExit(f"--isa: unknown level {sorted(unknown)}, choose from {tuple(known)}")

    def _cythonize(self):
        """Replace the extensions' sources by C; listing the files of an sdist does without."""
        from Cython.Build import cythonize

        translated = cythonize(
            list(cython_extensions()),
            build_dir="build/cython",
            compiler_directives=CYTHON_DIRECTIVES,
            nthreads=int(self.parallel),
        )
        for extension, in_c in zip(self.extensions, translated, strict=True):
            extension.sources, extension.depends = in_c.sources, in_c.depends

    def run(self):
        for name in sorted(OLD_SWITCHES.keys() & os.environ.keys()):
            print(f"{name} has no effect: {OLD_SWITCHES[name]}", file=sys.stderr)
        package = ROOT / "mxcy" if self.inplace else Path(self.build_lib) / "mxcy"
        library = package / "libmxcy.so"
        self._build_library(library)
        if self.sanitize:
            return
        if not self.inplace:
            shutil.copytree(KERNELS / "include", package / "include", dirs_exist_ok=True)
            self._add_openmp(package)
        if self.extensions:
            self._cythonize()
        for extension in self.extensions:
            extension.library_dirs = [str(package)]
            extension.depends = (
                [*extension.depends, str(library)] if self.force else extension.depends
            )
        super().run()

    def build_extension(self, ext):
        """Build an extension, or copy the result of an earlier build of the same files.

        The builds of a wheel and of an editable installation share no folder but this one.
        """
        built = Path(self.get_ext_fullpath(ext.name))
        kept = Path("build/extensions") / self.get_ext_filename(ext.name)
        if self.force or newer_group([*ext.sources, *ext.depends], str(kept)):
            super().build_extension(ext)
            source, copy = built, kept
        else:
            source, copy = kept, built
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)

    def get_outputs(self):
        package = Path(self.build_lib) / "mxcy"
        headers = (package / "include" / p.name for p in (KERNELS / "include").iterdir())
        libraries = [str(package / name) for name in ("libmxcy.so", OPENMP)]
        return [*super().get_outputs(), *libraries, *map(str, headers)]

    def _add_openmp(self, package):
        """Copy the compiler's OpenMP runtime next to the library, for machines without one.

        It keeps its name, which oneDNN links to as well, so that a process loads it only once.
        """
        command = [*_compiler(), f"-print-file-name={OPENMP}"]
        path = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        if not os.path.isfile(path):
            raise SystemExit(f"{command[0]} found no OpenMP runtime {OPENMP}: {path}")
        shutil.copyfile(path, package / OPENMP)

    def _build_library(self, library):
        compiler = _compiler()
        flags = [
            *CXX_FLAGS,
            *MACHINE_FLAGS[self.machine],
            *(SANITIZE.split() if self.sanitize else ["-g0"]),
        ]
        folder = Path("build") / ("objects-sanitize" if self.sanitize else "objects")
        headers = [] if self.sanitize else self._precompiled(folder)
        jobs = self._jobs(folder)
        folders = (KERNELS, KERNELS / "include", KERNELS / "machine" / self.machine)
        includes = [f"-I{name}" for name in folders]

        def compile_one(job):
            source, target, job_flags = job
            files = ["-MMD", "-c", str(source), "-o", str(target)]
            command = [*compiler, *flags, *job_flags, *includes, *files]
            if not self.force and fresh(target, command):
                return False
            target.parent.mkdir(parents=True, exist_ok=True)
            print(" ".join(command), flush=True)
            subprocess.run(command, check=True)
            target.with_suffix(".cmd").write_text(" ".join(command))
            return True

        with ThreadPoolExecutor(self.parallel) as pool:
            list(pool.map(compile_one, headers))
            built = list(pool.map(compile_one, jobs))
        objects = [str(target) for _, target, _ in jobs]
        listing = folder / f"{library.name}.list"
        if (
            any(built)
            or not library.exists()
            or not listing.exists()
            or listing.read_text() != str(objects)
        ):
            library.parent.mkdir(parents=True, exist_ok=True)
            sanitize = SANITIZE.split() if self.sanitize else []
            link = [*compiler, *sanitize, *LINK_FLAGS, *objects, "-o", str(library), "-ldl"]
            subprocess.run(link, check=True)
            listing.write_text(str(objects))

    def _level_flags(self, name):
        level, flags = ISA_LEVELS[self.machine][name]
        return [*flags.split(), f"-DMX_ISA={name}", f"-DMX_ISA_LEVEL={level}"]

    def _precompiled(self, folder):
        """Compilations of PRECOMPILED as (source, target, flags), one per ISA level."""
        return [
            (
                KERNELS / PRECOMPILED,
                folder / name / f"{PRECOMPILED}.gch",
                [*self._level_flags(name), "-x", "c++-header"],
            )
            for name in self.levels
        ]

    def _jobs(self, folder):
        """Compilations as (source, object, flags); leaf kernels once per ISA level."""
        jobs = []
        levels = ISA_LEVELS[self.machine]
        macro = "".join(f"MX_LEVEL({name},{levels[name][0]})" for name in self.levels)
        common = [*(KERNELS / "core").rglob("*.cc")]
        for subfolder in ("onednn", "cuda", f"machine/{self.machine}"):
            common += (KERNELS / subfolder).glob("*.cc")
        for source in sorted(common):
            target = folder / source.relative_to(KERNELS).with_suffix(".o")
            jobs.append((source, target, [f"-DMX_LEVELS={macro}"] if source.stem == "isa" else []))
        for name in self.levels:
            level_flags = self._level_flags(name)
            if not self.sanitize:
                level_flags += [f"-I{folder / name}", *WITH_PRECOMPILED]
            for source in sorted((KERNELS / "leaf").rglob("*.cc")):
                target = folder / name / source.relative_to(KERNELS / "leaf").with_suffix(".o")
                jobs.append((source, target, level_flags))
        return jobs


class Wheel(bdist_wheel):
    """bdist_wheel that can omit the Cython front: one wheel for all other Pythons."""

    user_options = bdist_wheel.user_options + [
        ("ctypes-alone", None, "omit the Cython front; the wheel fits every Python 3")
    ]
    boolean_options = bdist_wheel.boolean_options + ["ctypes-alone"]

    def initialize_options(self):
        super().initialize_options()
        self.ctypes_alone = False

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False
        if self.ctypes_alone:
            packages = self.distribution.packages
            compiled = ("mxcy._cy.", "mxcy._cy3.")
            packages[:] = [name for name in packages if not f"{name}.".startswith(compiled)]

    def get_tag(self):
        tag = super().get_tag()
        if not self.ctypes_alone:
            return tag
        # setuptools names this machine, even for a compiler of another one
        return "py3", "none", tag[2] if self.plat_name_supplied else f"linux_{_machine()}"


class Platform(Distribution):
    """A distribution that is never pure Python, even without Cython modules."""

    def has_ext_modules(self):
        return True


def _compiler():
    return shlex.split(os.environ.get("CXX", "g++"))


def _machine():
    """The compiler's target architecture, a key of ISA_LEVELS."""
    command = [*_compiler(), "-dumpmachine"]
    triple = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    machine = triple.split("-")[0].strip()
    if machine not in ISA_LEVELS:
        supported = " and ".join(ISA_LEVELS)
        raise SystemExit(f"mxcy supports {supported}; {command[0]} compiles for {machine}")
    return machine


def fresh(target, command):
    """Whether an object is newer than its sources and was compiled by the same command."""
    record, depends = target.with_suffix(".cmd"), target.with_suffix(".d")
    if not (target.exists() and record.exists() and depends.exists()):
        return False
    if record.read_text() != " ".join(command):
        return False
    names = depends.read_text().replace("\\\n", " ").split(":", 1)[1].split()
    compiled = target.stat().st_mtime
    return all(os.path.exists(name) and os.path.getmtime(name) <= compiled for name in names)


if sys.platform != "linux":
    raise SystemExit("mxcy supports only Linux; this is " + sys.platform)

if __name__ == "__main__":  # Cython's processes may import this file
    setup(
        distclass=Platform,
        ext_modules=[Extension("mxcy.placeholder", [])],
        cmdclass={"build_ext": Build, "bdist_wheel": Wheel},
    )
