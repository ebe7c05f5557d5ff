"""The instructions beside the MVM's, one module a unit, and what they share."""
