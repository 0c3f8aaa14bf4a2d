"""Takes libquarkstar.so into the package, from $QUARKSTAR_LIBRARY or where ./bootstrap has built it; else the package looks for it where it
runs."""
import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

NAME = "libquarkstar.so.0"
GIVEN = os.environ.get("QUARKSTAR_LIBRARY")
LIBRARY = pathlib.Path(GIVEN or pathlib.Path(__file__).parent / "build" / "release" / NAME)
if GIVEN and not LIBRARY.exists():
    raise SystemExit(f"QUARKSTAR_LIBRARY: there is no {GIVEN}; name a built {NAME}, or unset it")


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if LIBRARY.exists():
            shutil.copyfile(LIBRARY, pathlib.Path(self.build_lib) / "quarkstar" / NAME)


class WithLibrary(Distribution):
    """With the library in it a wheel is for machines of this kind alone."""

    def has_ext_modules(self) -> bool:
        return LIBRARY.exists()


setup(cmdclass={"build_py": BuildWithLibrary}, distclass=WithLibrary)
