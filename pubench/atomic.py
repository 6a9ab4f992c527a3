"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pubench.errors import DataError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path of the same suffix beside `path`; on success it takes the place of `path`.

    On any error the temporary file is removed and whatever was at `path` is still there. What stands inside the
    `with` should only write: its OSErrors are taken for a failure to write `path`.

    Raises:
        DataError: the folder can not be written to, or the disk is full.
    """
    temporary = path.with_name(f".{path.stem}-{secrets.token_hex(8)}{path.suffix}")
    try:
        # Opened here, with the permissions of any new file, to fail before the work and not after it.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path} can not be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)
