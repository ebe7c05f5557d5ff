// Of UVM, what generated register models name: nothing of the macros.
