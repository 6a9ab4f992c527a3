"""Files, locks, the cache, threads, streams, the machine, and JSON and TOML from anywhere."""
