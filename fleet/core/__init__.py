"""Tools of every room: the cache's place, sealed files, notices, child processes, signals, plug-ins."""
