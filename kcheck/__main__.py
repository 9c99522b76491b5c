"""`python -m kcheck`"""

from kcheck.cli.main import main

main()
