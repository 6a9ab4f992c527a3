"""What the commands print: results in, terminal out. Only the modules of this package use rich."""
