"""Links from docs/ to other files of the repository, which work when the Markdown files are read there.

The built pages may be anywhere, so such links are replaced by their text. A link to a missing file is not replaced, and
Sphinx warns.
"""

from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx


def replace_by_text(app: Sphinx, document: nodes.document) -> None:
    """Replace links to files or folders outside of the pages by their text."""
    pages = Path(app.srcdir)
    for link in list(document.findall(pending_xref)):
        if link.get("reftype") != "myst":
            continue
        target = (pages / Path(app.env.docname).parent / link["reftarget"]).resolve()
        is_outside = not target.is_relative_to(pages)
        if is_outside and (target.exists() or target.with_suffix(".md").exists()):
            link.replace_self(link.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the handler of links."""
    app.connect("doctree-read", replace_by_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
