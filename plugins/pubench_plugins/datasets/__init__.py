"""Data sets: generators and loaders. The only plugins that may hold true labels."""
