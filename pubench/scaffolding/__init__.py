"""`pubench plugins new`: the templates of each kind of plugin, and how they become a project or a single file."""
