"""Frame of all pages: templates, style, text of numbers, pictures of rows and graphs."""
