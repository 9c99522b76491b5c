"""The command line interface. It parses options and prints results; the work is done in other packages."""
