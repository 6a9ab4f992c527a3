"""Where things are: what CONTRIBUTING.md says of it is true, and a name means one thing."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
ROOMS = sorted(path.parent.name for path in (ROOT / "pubench").glob("*/__init__.py"))


def paths_of_a_row(row: str) -> Iterator[str]:
    """Yield the paths in the last cell of a row; a bare name is in the folder of the path before it."""
    folder = ""
    for name in re.findall(r"`([^`]*[./][^`]*)`", row.rstrip("| ").rpartition("|")[2]):
        folder = name.rpartition("/")[0] if "/" in name else folder
        yield f"{folder}/{name.rpartition('/')[2]}".replace("COMMAND", "*").replace("KIND/NAME", "*/*")


def test_every_file_of_the_guide_exists() -> None:
    rows = [line for line in GUIDE.splitlines() if line.startswith("| ") and "`pubench/" in line]
    assert len(rows) > 15
    for row in rows:
        for path in paths_of_a_row(row):
            assert [*ROOT.glob(path.rstrip("/"))], f"{path} in: {row}"


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_paragraph_whose_files_exist(room: str) -> None:
    paragraph = re.search(rf"^- \*\*`{room}/`\*\*.*?(?=^- |^$)", GUIDE, re.MULTILINE | re.DOTALL)
    assert paragraph or f"**`{room}/`**" in GUIDE, f"CONTRIBUTING.md says nothing of pubench/{room}/"
    for name in re.findall(r"`(\w+\.py)`", paragraph[0]) if paragraph else ():
        assert (ROOT / "pubench" / room / name).exists(), f"pubench/{room}/{name}"


def test_a_class_name_means_one_class() -> None:
    files = [*(ROOT / "pubench").rglob("*.py"), *(ROOT / "plugins/pubench_plugins").rglob("*.py")]
    trees = [ast.parse(path.read_text()) for path in files]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
