"""Data sets: files and downloads, names, PU views and splits."""
