"""What `doctor` found."""

from rich.text import Text

from pubench.cli.render.terminal import console, facts, size, state
from pubench.doctor import Diagnosis, Folder


def diagnosis(found: Diagnosis) -> None:
    """Print a diagnosis."""
    out = facts()
    out.add_row("system", f"{found.system}, Python {found.versions['python']}")
    out.add_row("cores", str(found.cores))
    out.add_row("memory", f"{size(found.memory_bytes)}, {size(found.memory_available_bytes)} available")
    for cuda in found.cuda:
        out.add_row(f"cuda: {cuda.learner}", state(cuda.problem, good="seen", bad="not seen"))
    for folder in found.folders:
        access = ("writable", "") if folder.writable else ("read-only", "yellow")
        made = "" if folder.exists else ", made when needed"
        rest = f"{made}{_used(folder)}, {size(folder.free_bytes)} free)"
        out.add_row(folder.role, Text.assemble(f"{folder.path} (", access, rest))
    out.add_row("storage", Text.assemble(f"{found.storage.place} (", state(found.storage.problem), ")"))
    out.add_row("plugins", f"{found.plugins} loaded, {len(found.plugin_problems)} with errors")
    versions = [f"{name} {value}" for name, value in found.versions.items() if name != "python"]
    out.add_row("versions", ", ".join(versions))
    console().print(out)


def _used(folder: Folder) -> str:
    if folder.used_bytes is None or folder.limit_bytes is None:
        return ""
    return f", {size(folder.used_bytes)} of at most {size(folder.limit_bytes)} used"
