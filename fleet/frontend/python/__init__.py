"""The language: names, expressions, statements, calls, and which library a name comes from."""
