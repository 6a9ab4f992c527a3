"""How plugins are found, and what happens when one is at fault."""

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from pubench.api import hookspecs
from pubench.api.discovery import FILES, NO_AUTOLOAD
from pubench.api.plugin import Kind
from pubench.api.registry import CONTRACTS, Registry, load_registry
from pubench.errors import DuplicateNameError, InputError, PluginError, UnknownPluginError

HEAD = "from pubench import *\npubench_api = 1\n"
BODIES = {
    "pubench_register_datasets": """
        class Mine(DatasetLoader):
            "Mine."
            name = "mine"
            info = DatasetInfo("t", 2, 1, 1, "here", "none")
            def load(self, paths, rows, seed): ...
    """,
    "pubench_register_similarities": """
        class Mine(Similarity):
            "Mine."
            name = "mine"
            def fit(self, data, seed, resources): ...
    """,
    "pubench_register_learners": """
        class Mine(Learner):
            "Mine."
            name = "mine"
            suffix = ".mine"
            def prepare(self, X, resources): ...
            def train(self, prepared, tags, seed, resources): ...
            @classmethod
            def load(cls, path): ...
    """,
    "pubench_register_methods": """
        class Mine(Method):
            "Mine."
            name = "mine"
            def fit(self, data, parts, seed, resources): ...
    """,
}
SIMILARITY = "pubench_register_similarities"
BUILT_IN = ["isolation", "kernel", "knn"]


def source(hook: str = SIMILARITY, name: str = "mine", head: str = HEAD, mark: str = "@hookimpl") -> str:
    body = dedent(BODIES.get(hook, BODIES[SIMILARITY])).replace('"mine"', f'"{name}"')
    return f"{head}{body}\n{mark}\ndef {hook}(register):\n    register(Mine)\n"


def write(folder: Path, text: str, name: str = "plugin.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def install(site: Path, package: str, text: str, version: str = "0.3") -> None:
    """Install a package the way pip leaves it: a module and its metadata on the path."""
    module = package.replace("-", "_")
    site.mkdir(exist_ok=True)
    (site / f"{module}.py").write_text(text)
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[pubench]\n{module} = {module}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, forgotten after the test."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv(NO_AUTOLOAD)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            del sys.modules[name]


def only_error(registry: Registry) -> str:
    (failure,) = registry.failures
    return str(failure.error)


def own(registry: Registry) -> list[str]:
    """Return the names of the similarities that a test has added to the built-in ones."""
    return [name for name in registry.names(Kind.SIMILARITY) if name not in BUILT_IN]


def test_built_ins_come_through_the_entry_point() -> None:
    registry = load_registry()
    assert registry.failures == ()
    assert registry.names(Kind.LEARNER) == [
        "catboost",
        "forest",
        "histgb",
        "lightgbm",
        "logistic",
        "mlp",
        "xgboost",
    ]
    assert registry.names(Kind.SIMILARITY) == BUILT_IN
    assert registry.find("naive").origin.package == "pubench"


def test_the_contracts_cover_every_hook() -> None:
    specs = {name for name in vars(hookspecs) if name.startswith("pubench_")}
    assert specs == set(CONTRACTS) == set(BODIES)


@pytest.mark.parametrize("hook", sorted(BODIES))
def test_each_hook_registers_its_kind(hook: str, tmp_path: Path) -> None:
    registry = load_registry([write(tmp_path, source(hook))])
    entry = registry.find("mine")
    assert issubclass(entry.plugin, CONTRACTS[hook])
    assert entry.summary == "Mine."
    assert entry.origin.package == str(tmp_path / "plugin.py")


@pytest.mark.parametrize("hook", sorted(BODIES))
def test_each_hook_is_documented(hook: str, root: Path) -> None:
    assert getattr(hookspecs, hook).__doc__
    assert f"`{hook}`" in (root / "docs/plugins.md").read_text()


def test_an_installed_package_takes_part(site: Path) -> None:
    install(site, "acme-pu", source())
    entry = load_registry().find("mine", Kind.SIMILARITY)
    assert str(entry.origin) == "acme-pu 0.3"


def test_autoload_can_be_switched_off_and_built_ins_stay(site: Path) -> None:
    install(site, "acme-pu", source())
    registry = load_registry(environ={NO_AUTOLOAD: "1"})
    assert "mine" not in registry.names(Kind.SIMILARITY)
    assert "xgboost" in registry.names(Kind.LEARNER)


def test_files_from_the_environment_and_the_command_line_load_once(tmp_path: Path) -> None:
    one, two = write(tmp_path, source(), "one.py"), write(tmp_path, source(name="other"), "two.py")
    registry = load_registry([one], environ={FILES: os.pathsep.join([str(one), str(two)])})
    assert own(registry) == ["mine", "other"]
    assert registry.failures == ()


FAULTS = {
    "import": ("import nonexistent_library\n", "ModuleNotFoundError: No module named 'nonexistent_library'"),
    "syntax": ("def (:\n", "SyntaxError"),
    "exit": ("raise SystemExit(3)\n", "SystemExit: 3"),
    "raises in hook": (source().replace("register(Mine)", "1 / 0"), "ZeroDivisionError: division by zero"),
    "misspelled": (
        source("pubench_register_similarites"),
        "unknown hook 'pubench_register_similarites'. Did you mean 'pubench_register_similarities'?",
    ),
    "misspelled, unmarked": (source("pubench_register_similarites", mark=""), "unknown hook"),
    "not a hook": (source("pubench_register_models"), "unknown hook 'pubench_register_models'."),
    "unmarked": (source(mark=""), "mark 'pubench_register_similarities' with @hookimpl"),
    "wrong argument": (
        source().replace("(register)", "(add)").replace("register(M", "add(M"),
        "PluginValidationError",
    ),
    "old API": (source(head=HEAD.replace("1", "0")), "was written for plugin API 0, and pubench"),
    "new API": (source(head=HEAD.replace("1", "2")), "has plugin API 1; upgrade pubench"),
    "no API": (source(head="from pubench import *\n"), "states no API version; add 'pubench_api = 1'"),
    "nothing": (HEAD, "registers nothing"),
    "no class": (source().replace("register(Mine)", "register(3)"), "3 is not a subclass of Similarity"),
    "wrong kind": (
        source("pubench_register_learners").replace("_learners", "_methods"),
        "not a subclass of Method",
    ),
    "abstract": (source().replace("def fit", "def fits"), "'mine' does not define fit"),
    "name is a number": (source().replace('"mine"', "3"), "lower-case letters, digits and hyphens"),
    "kind changed": (source().replace('"Mine."', '"Mine."; kind = "bogus"'), "kind is set by Similarity"),
    "odd API": (source(head=HEAD + "import numpy\npubench_api = numpy.array([1, 2])\n"), "plugin API array"),
    "API as text": (source(head=HEAD.replace("1", "'1'")), "written for plugin API '1'"),
    "module that bites": ("def __getattr__(name):\n    raise RuntimeError(name)\n", "RuntimeError"),
    "panic": ("class Panic(BaseException): ...\nraise Panic('boo')\n", "Panic: boo"),
    "many lines": (
        source().replace("register(Mine)", "raise ValueError('a\\nb\\x1b[31m')"),
        "ValueError: a b[31m",
    ),
    "no suffix": (
        source("pubench_register_learners").replace('suffix = ".mine"', ""),
        "'mine' does not define suffix",
    ),
    "no load": (
        source("pubench_register_learners").replace("def load", "def read"),
        "'mine' does not define load",
    ),
    "no info": (
        source("pubench_register_datasets").replace('info = DatasetInfo("t", 2, 1, 1, "here", "none")', ""),
        "'mine' does not define info",
    ),
    "space is no mapping": (source().replace('"Mine."', '"Mine."; space = [1]'), "got list"),
    "space of numbers": (
        source().replace('"Mine."', '"Mine."; space = {"a": 3}'),
        "'a' must be a Float, Int or",
    ),
    "choice of objects": (
        source().replace('"Mine."', '"Mine."; space = {"a": Choice((1, object), default=1)}'),
        "A choice is between",
    ),
    "bad name": (source(name="My Plugin"), "lower-case letters, digits and hyphens"),
    "no docstring": (source().replace('"Mine."', ""), "no docstring"),
    "bad space": (
        source().replace('"Mine."', '"Mine."; space = {"a": Int(1, 2, default=1, when=("b", 1))}'),
        "the space of 'mine' is wrong: 'a' depends on b = 1",
    ),
    "bad range": (source().replace('"Mine."', '"Mine."; space = {"a": Int(1, 2, default=3)}'), "default 3"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_plugin_at_fault_is_one_line_and_stops_nothing_else(fault: str, tmp_path: Path) -> None:
    text, message = FAULTS[fault]
    path = write(tmp_path, text)
    registry = load_registry([path, write(tmp_path, source(name="good"), "good.py")])
    assert own(registry) == ["good"]
    error = only_error(registry)
    assert "\n" not in error
    assert str(path) in error
    assert message in error


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_strict_makes_it_fatal(fault: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError):
        load_registry([write(tmp_path, FAULTS[fault][0])], strict=True)


def test_a_plugin_registers_wholly_or_not_at_all(tmp_path: Path) -> None:
    text = source().replace("register(Mine)", "register(Mine); 1 / 0")
    assert own(load_registry([write(tmp_path, text)])) == []


def test_a_file_that_failed_can_be_mended_and_loaded_again(tmp_path: Path) -> None:
    path = write(tmp_path, "1 / 0\n")
    assert load_registry([path]).failures
    path.write_text(source())
    assert own(load_registry([path])) == ["mine"]


@pytest.mark.parametrize(
    ("name", "message"), [("gone.py", "cannot be read: No such file"), ("notes.txt", "not a Python file")]
)
def test_a_path_that_is_no_plugin(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert message in only_error(load_registry(environ={FILES: str(tmp_path / name)}))


def test_two_packages_under_one_name_are_both_named(site: Path) -> None:
    install(site, "acme-pu", source())
    install(site, "zeta-pu", source(), version="1.0")
    registry = load_registry()
    assert own(registry) == []
    with pytest.raises(DuplicateNameError, match=r"similarity 'mine': acme-pu 0.3 and zeta-pu 1.0"):
        registry.find("mine", Kind.SIMILARITY)
    with pytest.raises(DuplicateNameError):
        load_registry(strict=True)
    assert "xgboost" in registry.names(Kind.LEARNER)


def test_a_claim_on_a_built_in_name_is_reported(tmp_path: Path) -> None:
    registry = load_registry([write(tmp_path, source("pubench_register_learners", name="xgboost"))])
    with pytest.raises(DuplicateNameError, match=r"learner 'xgboost': pubench .* and .*plugin.py"):
        registry.find("xgboost")


def test_one_name_may_stand_for_two_kinds(tmp_path: Path) -> None:
    registry = load_registry([write(tmp_path, source(name="naive"))])
    with pytest.raises(InputError, match="is a similarity and a method"):
        registry.find("naive")
    assert registry.find("naive", Kind.METHOD).kind is Kind.METHOD


def test_an_unknown_name_lists_what_there_is_and_what_failed(tmp_path: Path) -> None:
    registry = load_registry([write(tmp_path, "1 / 0\n")])
    with pytest.raises(
        UnknownPluginError, match=r"no learner 'xgbost'.*Did you mean 'xgboost'.*Not loaded: .*plugin.py"
    ):
        registry.find("xgbost", Kind.LEARNER)


def test_what_a_plugin_prints_stays_off_stdout(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_registry([write(tmp_path, source() + "print('hello')\nimport os\nos.system('echo native')\n")])
    captured = capfd.readouterr()
    assert captured.out == ""
    assert sorted(captured.err.split()) == ["hello", "native"]


def test_a_helper_of_any_name_is_no_hook(tmp_path: Path) -> None:
    text = source() + "def pubench_helper():\n    return 1\n"
    assert load_registry([write(tmp_path, text)]).failures == ()


def test_an_unchanged_file_gives_the_same_classes_again(tmp_path: Path) -> None:
    path = write(tmp_path, source(), "my.plugin.py")
    first, again = (load_registry([path]).find("mine").plugin for _ in range(2))
    assert first is again
    assert pickle.loads(pickle.dumps(first())) == again()  # noqa: S301 - our own bytes
    (tmp_path / "other").mkdir()
    assert (
        load_registry([write(tmp_path / "other", source(), "my.plugin.py")]).find("mine").plugin is not first
    )


@pytest.mark.parametrize("path", ["~nobody-of-that-name/p.py", "/proc/self/mem", "loop.py", "."])
def test_paths_that_cannot_be_read_are_failures(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.py").symlink_to("loop.py")
    assert "cannot be read" in only_error(load_registry(environ={FILES: path}))
