"""What all pages share: templates, style, text of numbers, pictures of rows and graphs."""
