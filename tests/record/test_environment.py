"""Which versions a record names."""

from importlib.metadata import packages_distributions, version

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.record import environment
from pubench.record.environment import versions_of


def test_a_module_is_found_in_the_distribution_that_brings_it() -> None:
    known = packages_distributions()
    assert len(known) > 50
    wrong = {
        module: environment._distribution_of(module)
        for module, brought_by in known.items()
        if environment._distribution_of(module) not in brought_by
    }
    assert wrong == {}
    assert environment._distribution_of("nobody_has_it") == ""


def test_a_plugin_names_the_libraries_that_its_module_imports() -> None:
    registry = load_registry()
    for name, library in (("lightgbm", "lightgbm"), ("logistic", "scikit-learn")):
        found = versions_of(registry.find(name, Kind.LEARNER).plugin())
        assert found[library] == version(library)
        assert found["numpy"] == version("numpy")
        assert "pathlib" not in found
