"""The regression: cases, goldens, norms, waivers, the records of a night, and the pytest plug-in that runs them."""
