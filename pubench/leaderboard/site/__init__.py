"""The board as static pages, without server or network; a script sorts and filters, and pages are readable without it."""
