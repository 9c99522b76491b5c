"""Check and describe a release.

    python tools/release.py check [TAG]       the version, the changelog, the documents and the tag agree
    python tools/release.py notes             print the section of the version in CHANGELOG.md
    python tools/release.py sbom WHEEL FILE   write a CycloneDX SBOM of the wheel and what it installs

The version is defined in kcheck/__init__.py only. `sbom` needs cyclonedx-bom, which the extra `release` installs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from kcheck import __version__

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = ROOT / "CHANGELOG.md"

_SECTION = re.compile(r"^## (\S+)(?: \((\d{4}-\d{2}-\d{2})\))?$", re.MULTILINE)
# How documents name the version: the tag of pre-commit hooks, a requirement, and the field of the JSON format.
_MENTIONS = re.compile(r"rev: v(\d+\.\d+\.\d+)|kcheck==(\d+\.\d+\.\d+)|\"kcheck\": \"(\d+\.\d+\.\d+)\"|kcheck@v(\d+\.\d+\.\d+)")


def faults(tag: str = "") -> Iterator[str]:
    """Return what contradicts the version."""
    if tag and tag != f"v{__version__}":
        yield f"the tag is {tag}, but kcheck/__init__.py says {__version__}"
    first = _SECTION.search(CHANGELOG.read_text(encoding="utf-8"))
    if first is None or first[1] != __version__:
        yield f"CHANGELOG.md begins with {first[1] if first else 'no section'}, not with {__version__}"
    elif tag and not first[2]:
        yield f"CHANGELOG.md has no date for {__version__}: ## {__version__} (YYYY-MM-DD)"
    for document in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        for line, text in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
            for mention in _MENTIONS.finditer(text):
                version = next(filter(None, mention.groups()))
                if version != __version__:
                    yield f"{document.relative_to(ROOT)}:{line}: names version {version}, not {__version__}"


def notes() -> str:
    """Return the section of the version in the changelog. Raises ValueError if there is none."""
    text = CHANGELOG.read_text(encoding="utf-8")
    sections = list(_SECTION.finditer(text))
    for section, after in zip(sections, [*sections[1:], None], strict=True):
        if section[1] == __version__:
            return text[section.end() : after.start() if after else None].strip() + "\n"
    raise ValueError(f"CHANGELOG.md has no section {__version__}")


def write_sbom(wheel: Path, output: Path) -> None:
    """Install a wheel into an empty environment and describe what is in it."""
    with tempfile.TemporaryDirectory(prefix="kcheck-sbom-") as folder:
        venv.create(folder, with_pip=False, symlinks=True)
        python = next(path for path in (Path(folder, "bin", "python"), Path(folder, "Scripts", "python.exe")) if path.exists())
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, str(wheel)], check=True)
        describe = [sys.executable, "-m", "cyclonedx_py", "environment", str(python), "--pyproject", str(ROOT / "pyproject.toml")]
        subprocess.run([*describe, "--mc-type", "application", "--output-reproducible", "--output-file", str(output)], check=True)
    # The version in pyproject.toml is dynamic, so the program does not find it.
    document = json.loads(output.read_text(encoding="utf-8"))
    document["metadata"]["component"] |= {"version": __version__, "purl": f"pkg:pypi/kcheck@{__version__}"}
    output.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Check and describe a release.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check").add_argument("tag", nargs="?", default="")
    commands.add_parser("notes")
    sbom = commands.add_parser("sbom")
    sbom.add_argument("wheel", type=Path)
    sbom.add_argument("file", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "check":
        found = list(faults(arguments.tag))
        print("\n".join(found) if found else f"ready to release {__version__}")
        return 1 if found else 0
    if arguments.command == "notes":
        print(notes(), end="")
    else:
        write_sbom(arguments.wheel, arguments.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
