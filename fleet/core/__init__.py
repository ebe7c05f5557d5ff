"""What every room may import: the cache's place, sealed files, notices, child processes, signals, plug-ins."""
