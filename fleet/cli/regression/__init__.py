"""Commands of the regression: cases, nights, goldens, random programs, shrinking."""
