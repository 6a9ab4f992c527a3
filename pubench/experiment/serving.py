"""The process that jobs are forked from: imports are done once, and every job still has a process of its own.

The server keeps the limits, so that they hold whatever the runner does, and kills the job when the runner is gone.
"""

import gc
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace

from pubench.experiment.handing import LOG, NO_ROOM, RECORD, Order
from pubench.experiment.limits import die_with_parent, fence_in
from pubench.experiment.means import Means
from pubench.experiment.opening import JobData
from pubench.experiment.watching import say_done, watch
from pubench.experiment.working import do_job
from pubench.records.files import to_document
from pubench.records.record import RunSpec

_READ_BYTES = 2**16


def serve(means: Means, prepare: Callable[[RunSpec], JobData | None], incoming: int, outgoing: int) -> None:
    """Run the jobs that come in, one after another, until there are no more.

    Args:
        means: for all jobs; the folder is each one's own.
        prepare: does beforehand what a job and its successors have use for, and returns its rows if it has them.
        incoming: descriptor that orders are read from.
        outgoing: descriptor that endings are written to.
    """
    reader = _Lines(incoming)
    lingering: int | None = None
    while (line := reader.next()) is not None:
        order = Order.from_line(line)
        data = prepare(order.spec)
        gc.freeze()  # what is here stays: a fork that looked for garbage in it would copy every page
        alive, held = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(alive)
            os.close(outgoing)
            _become_job(held, order, replace(means, folder=order.folder, data=data))
        os.close(held)
        if lingering is not None:
            os.waitpid(lingering, 0)
        ending, lingers = watch(pid, alive, order.limits, reader.is_over)
        lingering = pid if lingers else None
        os.close(alive)
        if ending.broken == "abandoned":
            return
        try:
            os.write(outgoing, json.dumps(asdict(ending)).encode() + b"\n")
        except BrokenPipeError:  # the runner was killed meanwhile
            return


def _become_job(held: int, order: Order, means: Means) -> None:
    """Run a job in this process, just forked, and leave it for good; the server watches the other end of `held`."""
    code = 1
    try:
        os.setsid()
        die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the runner, which ends us
        log = os.open(order.folder / LOG, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, target in ((0, nothing), (1, log), (2, log)):
            os.dup2(target, stream)
        fence_in(order.limits)
        text = json.dumps(to_document(do_job(order.spec, means)), allow_nan=False)
        code = NO_ROOM
        (order.folder / RECORD).write_text(text, encoding="utf-8")
        code = 0
        say_done(held)
    except BaseException:  # noqa: BLE001 - a forked process must not go on as its parent would
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _Lines:
    """Lines of a descriptor, and whether whoever writes them is gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def next(self) -> bytes | None:
        """Return the next line, or None at the end."""
        while b"\n" not in self._rest:
            piece = os.read(self._descriptor, _READ_BYTES)
            if not piece:
                return None
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def is_over(self) -> bool:
        """Whether the other side has closed it."""
        if not select.select([self._descriptor], [], [], 0)[0]:
            return False
        piece = os.read(self._descriptor, _READ_BYTES)
        self._rest += piece
        return not piece
