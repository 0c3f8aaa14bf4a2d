"""Takes libquarkstar.so into the package, where ./bootstrap has built it; else the package looks for it where it runs."""
import pathlib
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        built = pathlib.Path(__file__).parent / "build" / "release" / "libquarkstar.so.0"
        if built.exists():
            shutil.copyfile(built, pathlib.Path(self.build_lib) / "quarkstar" / built.name)


setup(cmdclass={"build_py": BuildWithLibrary})
