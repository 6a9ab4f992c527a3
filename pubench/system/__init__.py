"""Files, locks, the cache, threads, streams, the machine, and JSON from anywhere."""
