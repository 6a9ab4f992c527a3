"""What `doctor` prints."""

from rich.text import Text

from pubench.cli.render.terminal import console, facts, size, state
from pubench.doctor import Diagnosis, FolderStatus


def print_diagnosis(diagnosis: Diagnosis) -> None:
    """Print a diagnosis."""
    out = facts()
    out.add_row("system", f"{diagnosis.system}, Python {diagnosis.versions['python']}")
    out.add_row("cores", str(diagnosis.cores))
    out.add_row(
        "memory", f"{size(diagnosis.memory_bytes)}, {size(diagnosis.memory_available_bytes)} available"
    )
    for cuda in diagnosis.cuda:
        out.add_row(f"cuda: {cuda.learner}", state(cuda.problem, good="seen", bad="not seen"))
    for folder in diagnosis.folders:
        access = ("writable", "") if folder.writable else ("read-only", "yellow")
        missing = "" if folder.exists else ", created when needed"
        rest = f"{missing}{_used(folder)}, {size(folder.free_bytes)} free)"
        out.add_row(folder.role, Text.assemble(f"{folder.path} (", access, rest))
    out.add_row(
        "storage", Text.assemble(f"{diagnosis.storage.place} (", state(diagnosis.storage.problem), ")")
    )
    out.add_row("plugins", f"{diagnosis.plugins} loaded, {len(diagnosis.plugin_problems)} with errors")
    versions = [f"{name} {value}" for name, value in diagnosis.versions.items() if name != "python"]
    out.add_row("versions", ", ".join(versions))
    console().print(out)


def _used(folder: FolderStatus) -> str:
    if folder.used_bytes is None or folder.limit_bytes is None:
        return ""
    return f", {size(folder.used_bytes)} of at most {size(folder.limit_bytes)} used"
