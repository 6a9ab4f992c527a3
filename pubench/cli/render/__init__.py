"""What people see: data in, terminal out. Only the modules of this package know rich."""
