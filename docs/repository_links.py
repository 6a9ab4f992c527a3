"""Links that leave docs/ for the rest of the repository, as a reader of the files follows them.

The built pages may stand anywhere, so there is nothing to link to: the text stays, without a link. A link to what does
not exist stays what it is, and Sphinx warns.
"""

from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx


def keep_the_text(app: Sphinx, document: nodes.document) -> None:
    """Put the text of a link in place of one to a file or folder outside of the pages."""
    pages = Path(app.srcdir)
    for link in list(document.findall(pending_xref)):
        if link.get("reftype") != "myst":
            continue
        place = (pages / Path(app.env.docname).parent / link["reftarget"]).resolve()
        outside = not place.is_relative_to(pages)
        if outside and (place.exists() or place.with_suffix(".md").exists()):
            link.replace_self(link.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to look at links."""
    app.connect("doctree-read", keep_the_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
