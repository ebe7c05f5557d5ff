"""`fleet isa check`: is an installed instruction set what its manifest, description and classes say it is?

`finding` is one line of the answer; `scratch` memory that shows what an instruction depends on; `semantics`, `calls` and `files`
look; `whole` puts it together.
"""
