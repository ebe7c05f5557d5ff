"""Pictures of figures, as SVG and PNG: what the pages of one run and of the regression draw with."""
