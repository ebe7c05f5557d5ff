"""Judges that decide where an accumulated bound says nothing: an operation's own operands, then the program in higher precision."""
