"""The regression: cases, goldens, norms, waivers, the records of a night, and the plug-in of pytest that runs them."""
