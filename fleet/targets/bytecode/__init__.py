"""The seeds' bytecode: encoder, file format and stack VM."""
