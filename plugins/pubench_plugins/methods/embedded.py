"""What fitted methods share that score embedded rows: the embedding, what fitting decided, and one JSON file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pubench import FittedEmbedding, FittedMethod, Json, write_json
from pubench_plugins.learners.model_files import expect, read_form, reading

_MODEL = "model.json"


class Opened(NamedTuple):
    """What `EmbeddedFit.opened` found: the whole document, and the parts of it that all such methods have."""

    document: dict[str, Any]
    embedding: FittedEmbedding
    decided: Mapping[str, Json]


@dataclass(frozen=True, eq=False)
class EmbeddedFit(FittedMethod):
    """A fitted method that sees rows as its embedding gives them; kept as `model.json`, and files beside it.

    Attributes:
        method: the name of the method, which stands in the file.
        embedding: of the features.
        decided: what fitting decided by itself, of plain JSON values.
    """

    method: ClassVar[str]

    embedding: FittedEmbedding
    decided: Mapping[str, Json]

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What was decided."""
        return self.decided

    def write(self, folder: Path, **rest: Json) -> None:
        """Write `model.json`: what all such methods have, and the `rest`; numbers keep every bit."""
        document: dict[str, Json] = {
            "form": self._form(),
            **rest,
            "decided": self.decided,
            "embedding": self.embedding.to_json(),
        }
        write_json(folder / _MODEL, document)

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[Opened]:
        """Read `model.json`; what goes wrong with it inside is raised as a `DataError` that names the file."""
        with reading(folder / _MODEL, f"a model of {cls.method}"):
            document = read_form(folder / _MODEL, cls._form())
            expect(isinstance(document["decided"], dict), "what was decided should be an object")
            yield Opened(document, FittedEmbedding.from_json(document["embedding"]), document["decided"])

    @classmethod
    def _form(cls) -> str:
        return f"pubench {cls.method} 1"
