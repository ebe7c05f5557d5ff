"""Commands of the regression: cases, nights, goldens, random programs, what makes a failure small."""
