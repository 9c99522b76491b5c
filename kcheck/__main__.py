"""`python -m kcheck`"""

from kcheck.cli.main import program

program()
