"""The board as static pages: no server, no network; readable without the script, which sorts and filters."""
