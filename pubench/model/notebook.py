"""What a notebook shows of a saved model."""

from pubench.html.markup import Markup, element, join
from pubench.html.numbers import count, percent
from pubench.html.parts import largest, table
from pubench.model.manifest import Manifest

_N_IMPORTANCES = 10


def model_html(manifest: Manifest) -> Markup:
    """Return what is known about a model, and its most important features, as HTML that needs no style sheet."""
    facts = {
        "rows": f"{count(manifest.n_rows)}, {count(manifest.n_labelled)} of them labelled",
        "features": count(len(manifest.features)),
        "seed": str(manifest.seed),
    }
    if manifest.expected_positives is not None:
        facts["positives expected"] = count(round(manifest.expected_positives))
    return join(
        element("p", element("strong", manifest.title)),
        table(("", ""), facts.items(), "Training", number_columns=()),
        _importances(manifest),
    )


def _importances(manifest: Manifest) -> Markup | None:
    if manifest.importances is None or not any(manifest.importances):
        return None
    names = [feature.name for feature in manifest.features]
    shares = largest(dict(zip(names, manifest.importances, strict=True)), _N_IMPORTANCES)
    rows = [(name, percent(share)) for name, share in shares]
    return table(("feature", "importance"), rows, "The most important features")
