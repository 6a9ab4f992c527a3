"""Creates a new plugin from templates: a project, or a single file, that works at once."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from pubench.api.plugin import Kind
from pubench.errors import DataError, ParameterError
from pubench.system.files import make_folder, write_folder, write_whole

#: The form of plugin names that the registry accepts.
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_LENGTH = 60
#: How each kind is used, as a line of the README.
_USES: Mapping[Kind, str] = {
    Kind.SIMILARITY: "    pubench tune --dataset bank1 --similarity {name}\n",
    Kind.LEARNER: "    pubench tune --dataset bank1 --learner {name}\n",
    Kind.METHOD: "    pubench tune --dataset bank1 --method {name}\n",
    Kind.DATASET: "    pubench tune --dataset {name}\n",
}


@dataclass(frozen=True)
class NewPlugin:
    """A plugin to be created.

    Attributes:
        kind: the kind of plugin.
        name: its name: lower-case letters, digits and hyphens.
    """

    kind: Kind
    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > _MAX_LENGTH:
            raise ParameterError(
                f"'{self.name}' cannot be the name of a plugin; use lower-case letters, digits and hyphens, "
                "as in my-similarity."
            )

    @property
    def package(self) -> str:
        """The name of its project and of the project's folder."""
        return f"pubench-{self.name.removeprefix('pubench-')}"

    @property
    def module(self) -> str:
        """The name of its module; the prefix avoids the names of other modules and Python's keywords."""
        return self.package.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The name of its class, different from all names in the template."""
        words = "".join(part.capitalize() for part in self.name.split("-"))
        kind = self.kind.capitalize()
        candidate = words if words.endswith(kind) and words[0].isalpha() else f"{words}{kind}"
        taken = not candidate.isidentifier() or re.search(rf"\b{candidate}\b", _template(f"{self.kind}.py"))
        return f"My{candidate}" if taken else candidate

    def source(self) -> str:
        """Return the source of its module, which is also a single-file plugin."""
        return self._filled(f"{self.kind}.py")

    def project(self) -> dict[str, str]:
        """Return the files of its project: path in the project -> text."""
        test = "test_method.py" if self.kind is Kind.METHOD else "test_plugin.py"
        return {
            "pyproject.toml": self._filled("pyproject.toml"),
            "README.md": self._filled("README.md"),
            f"{self.module}.py": self.source(),
            f"tests/test_{self.module}.py": self._filled(test),
        }

    def _filled(self, template: str) -> str:
        return Template(_template(template)).substitute(
            name=self.name,
            kind=self.kind,
            package=self.package,
            module=self.module,
            class_name=self.class_name,
            contract=f"{self.kind.capitalize()}Contract",
            use=_USES[self.kind].format(name=self.name),
        )


def write_file(plugin: NewPlugin, folder: Path) -> Path:
    """Write the plugin as a single file into `folder`, and return its path.

    Raises:
        DataError: the file exists already, or cannot be written.
    """
    path = folder / f"{plugin.name.replace('-', '_')}.py"
    _refuse_existing(path)
    make_folder(folder)
    with write_whole(path) as temporary:
        temporary.write_text(plugin.source(), encoding="utf-8")
    return path


def write_project(plugin: NewPlugin, folder: Path) -> list[Path]:
    """Write the plugin as a project, a folder inside `folder`, and return the paths of its files.

    Raises:
        DataError: the project's folder exists already, or cannot be written.
    """
    project = folder / plugin.package
    _refuse_existing(project)
    contents = plugin.project()
    with write_folder(project, _refuse_existing) as temporary:
        for name, text in contents.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return [project / name for name in contents]


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise DataError(f"{path} exists already; choose another name, or another folder with --out.")


def _template(name: str) -> str:
    return (files("pubench.scaffolding") / "templates" / f"{name}.tmpl").read_text(encoding="utf-8")
