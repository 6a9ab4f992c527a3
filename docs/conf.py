"""The configuration of Sphinx.

    sphinx-build -W -n docs out

Building needs no network: names of other libraries are shown without links. No generated file is written into this
folder.
"""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the extensions of this folder

project = "pubench"
version = release = installed_version("pubench")
extensions = [
    "sphinx.ext.autodoc",
    "myst_parser",
    "pictures",
    "reference_names",
    "reference_pages",
    "repository_links",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"pubench {version}"
html_static_path = ["_static"]
html_css_files = ["pubench.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

# Directives are written with colons, so that only code which users would type is in backticks, where it is tested.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 90

nitpicky = True
nitpick_ignore_regex = [
    # Other libraries are not documented here.
    ("py:.*", r"(np|npt|numpy|pd|pyarrow|collections)\..*|Path|Axes|(dataclasses\.)?InitVar"),
    # Values that public functions take or return and users do not create; subclasses of public errors.
    (
        "py:class",
        r"Cache|CallRequest|Column|Configuration|(pubench\.tuning\.final_models\.)?Contender|Entrant|Evidence|Explanation|HeldOut|HoldoutResult|HonestScores|InnerFold",
    ),
    (
        "py:class",
        "Manifest|ModelChoice|OwnRows|Quantiles|Registry|SensitivityBand|ShippedModel|Split|Trial",
    ),
    ("py:exc", "InputError|JobFailedError|ParameterError|PluginError"),
    # Sphinx splits the type of an attribute at its commas.
    ("py:class", r"tuple\[str"),
]
