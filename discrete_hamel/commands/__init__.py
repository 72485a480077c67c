"""The commands of the command line, one file each: `add` declares its options, `execute` returns the exit status."""
