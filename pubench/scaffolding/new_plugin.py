"""The texts of a new plugin: which template becomes which file, and what is filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from pubench.errors import ParameterError
from pubench.plugin_api import Kind

#: As the registry wants the names of plugins.
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MOST_LETTERS = 60
#: How each kind is put to use, as a line of the README.
_USES: Mapping[Kind, str] = {
    Kind.SIMILARITY: "    pubench tune --dataset bank1 --similarity {name}\n",
    Kind.LEARNER: "    pubench tune --dataset bank1 --learner {name}\n",
    Kind.METHOD: "    pubench tune --dataset bank1 --method {name}\n",
    Kind.DATASET: "    pubench tune --dataset {name}\n",
}


@dataclass(frozen=True)
class NewPlugin:
    """A plugin that does not exist yet.

    Attributes:
        kind: what it is for.
        name: how people will call it: lower-case letters, digits and hyphens.
    """

    kind: Kind
    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > _MOST_LETTERS:
            raise ParameterError(
                f"'{self.name}' can not be the name of a plugin; use lower-case letters, digits and hyphens, "
                "as in my-similarity."
            )

    @property
    def package(self) -> str:
        """What its project, and the folder of that, are called."""
        return f"pubench-{self.name.removeprefix('pubench-')}"

    @property
    def module(self) -> str:
        """What its module is called; the prefix keeps it apart from other modules and from Python's own words."""
        return self.package.replace("-", "_")

    @property
    def class_name(self) -> str:
        """What its class is called: no name that the template uses already."""
        words = "".join(part.capitalize() for part in self.name.split("-"))
        kind = self.kind.capitalize()
        candidate = words if words.endswith(kind) and words[0].isalpha() else f"{words}{kind}"
        taken = not candidate.isidentifier() or re.search(rf"\b{candidate}\b", _template(f"{self.kind}.py"))
        return f"My{candidate}" if taken else candidate

    def source(self) -> str:
        """Return its module, which is also a plugin in a single file."""
        return self._filled(f"{self.kind}.py")

    def project(self) -> dict[str, str]:
        """Return the files of its project: place in the project -> text."""
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


def _template(name: str) -> str:
    return (files("pubench.scaffolding") / "templates" / f"{name}.tmpl").read_text(encoding="utf-8")
