"""Addresses of databases and repositories in texts that others may read."""

import re

_ADDRESS = re.compile(r"(?<=://)\S+")


def redacted(text: str) -> str:
    """Return a text where addresses have neither users and passwords nor queries, each of which may hold a secret.

    A password may contain any character, also those that mean something in an address.
    """
    return _ADDRESS.sub(lambda found: found[0].rpartition("@")[2].partition("?")[0], text)
