"""One step and many of them: Newton's iteration, the update, the loop, and the rows that it writes."""
