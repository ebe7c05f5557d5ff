"""`fleet inspect` and the first half of `fleet try`: the page of a file, one function per kind."""
