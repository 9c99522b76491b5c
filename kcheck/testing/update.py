"""Updates the caret comments of rule pages to match the findings of the rules.

python -m kcheck.testing.update [--plugin MODULE] [RULE...]
"""

from __future__ import annotations

import argparse
import sys

from kcheck.testing.pages import pages, update_page

_BUILT_IN = ("kcheck_spec._plugin", "kcheck_practice._plugin")


def main(arguments: list[str] | None = None) -> int:
    """Updates the pages of some or all rules. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m kcheck.testing.update", description="Update the caret comments of rule pages.")
    parser.add_argument("rules", nargs="*", metavar="RULE", help="rule ids; default: all rules")
    parser.add_argument("--plugin", action="append", metavar="MODULE", help="module of a plug-in; default: the built-in rules")
    given = parser.parse_args(arguments)
    cases = [case for plugin in given.plugin or _BUILT_IN for case in pages(plugin, only=given.rules)]
    unknown = sorted(set(given.rules) - {case.id for case in cases})
    failed = [f"unknown rule {id}" for id in unknown]
    for case in cases:
        try:
            if case.fault:
                failed.append(case.fault)
            elif case.example is None and update_page(case):
                print(f"updated {case.path}")
        except AssertionError as error:
            failed.append(str(error))
    print(*failed, sep="\n", end="\n" if failed else "", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
