"""The snippets of README and docs run, in order, as a reader would type them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Snippet:
    language: str
    mark: str
    text: str
    line: int


def snippets(document: Path) -> Iterator[Snippet]:
    """Yield the fenced blocks; what follows the language is a mark.

    `setup`: not run here. `file=NAME`: written to that file. `output`: what the commands before it print.
    """
    for token in MarkdownIt().parse(document.read_text()):
        if token.type == "fence":
            language, _, mark = token.info.partition(" ")
            yield Snippet(language, mark.strip(), token.content, (token.map or [0])[0] + 1)


def test_every_block_is_of_a_kind_that_is_run_or_known_not_to_be() -> None:
    for document in DOCUMENTS:
        for snippet in snippets(document):
            assert snippet.language in {"python", "sh", "toml", "text"}, f"{document}:{snippet.line}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_snippets_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    for snippet in snippets(document):
        place = f"{document.name}:{snippet.line}"
        if snippet.mark.startswith("file="):
            (tmp_path / snippet.mark.removeprefix("file=")).write_text(snippet.text)
        elif snippet.language == "python":
            exec(compile(snippet.text, place, "exec"), names)  # noqa: S102 - our own documents
        elif snippet.language == "sh" and snippet.mark != "setup":  # set-up lines are run by CI itself
            printed = run_shell(snippet.text, place)
        elif snippet.mark == "output":
            assert stripped(printed) == stripped(snippet.text), place


def stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def run_shell(text: str, place: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"{place}\n{result.stdout}{result.stderr}"
    return result.stdout
