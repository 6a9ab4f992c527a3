"""Sphinx: what the pages are made of, and which names of other libraries need no target.

    sphinx-build -W -n docs out

Nothing is fetched: names of other libraries are shown without links. Nothing generated is written into this folder.
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

# Directives stand between colons, so that only what a reader would type stands between backticks and is tested.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 90

nitpicky = True
nitpick_ignore_regex = [
    # Other libraries have pages of their own.
    ("py:.*", r"(np|npt|numpy|pd|pyarrow|collections)\..*|Path|Axes"),
    # Values that public functions take or return, and nobody makes by hand; errors below public ones.
    (
        "py:class",
        "Column|Configuration|Evidence|Explanation|Keep|Manifest|Quantiles|Registry|SensitivityBand|Split",
    ),
    ("py:exc", "ParameterError|PluginError"),
    # Sphinx takes the type of an attribute apart at its commas.
    ("py:class", r"tuple\[str"),
]
