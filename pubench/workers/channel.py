"""The worker's end of the pipes to the process that started it: JSON objects, one per line."""

import json
import os
import select
from collections.abc import Mapping
from typing import Any, TypeAlias

from pubench.workers.limits import die_when_closed

Message: TypeAlias = Mapping[str, Any]

_READ_BYTES = 2**16


def to_line(message: Message) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, allow_nan=False).encode() + b"\n"


class Channel:
    """Messages of a worker.

    Args:
        incoming: descriptor that requests are read from.
        outgoing: descriptor that answers are written to.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._buffer = b""

    def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            BrokenPipeError: the host has ended.
        """
        line = to_line(message)
        while line:
            line = line[os.write(self._outgoing, line) :]

    def receive(self) -> dict[str, Any] | None:
        """Wait for the next message and return it; None if the host has closed the channel."""
        while b"\n" not in self._buffer:
            piece = os.read(self._incoming, _READ_BYTES)
            if not piece:
                return None
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return dict(json.loads(line))

    def is_closed(self) -> bool:
        """Return whether the host has closed the channel or has ended; does not wait."""
        if not select.select([self._incoming], [], [], 0)[0]:
            return False
        piece = os.read(self._incoming, _READ_BYTES)
        self._buffer += piece
        return not piece

    def close_answers(self) -> None:
        """Close the outgoing descriptor, in a forked process that has its own."""
        os.close(self._outgoing)

    def die_with_host(self) -> None:
        """Kill this process and its group as soon as the host has closed the channel or has ended, whatever it is doing.

        A thread waits for it: the system's own signal (`die_with_parent`) comes when the thread ends that started the
        process, and hosts start workers from threads.
        """
        die_when_closed(self._incoming)
