"""Numbers that mean something else than they seem to: file modes and amounts."""

from __future__ import annotations

import json

import pytest

from kcheck.testing import check_text
from kcheck.text.edit import apply_edits
from tests.practice.reported import pod, reported


def volume(mode: str) -> str:
    return pod(f"  volumes: [{{name: v, secret: {{secretName: s, defaultMode: {mode}}}}}]\n")


@pytest.mark.parametrize("mode", ["400", "440", "444"])
def test_a_mode_without_its_zero(mode: str) -> None:
    assert reported(volume(mode), "decimal-file-mode") == [(6, mode)]
    (finding,) = check_text(volume(mode), ["decimal-file-mode"])
    assert finding.fix is not None
    assert [edit.text for edit in finding.fix.edits] == [f"0{mode}"]


@pytest.mark.parametrize("mode", ["0400", "0620", "0o400", "0x190", "256", "420", "511", "644", "0", "7", "100", "'400'", "-400"])
def test_modes_that_say_what_they_mean_or_that_the_server_refuses(mode: str) -> None:
    assert reported(volume(mode), "decimal-file-mode") == []


def test_json_files_get_decimal_numbers() -> None:
    text = (
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "b:1"}],'
        '"volumes": [{"name": "v", "projected": {"sources": ['
        '{"secret": {"name": "s", "items": [{"key": "k", "path": "p", "mode": 400}]}}]}}]}}'
    )
    (finding,) = check_text(text, ["decimal-file-mode"], name="pod.json")
    assert finding.concise == "mode: 400 is a decimal number and means mode 0620; did you mean 256 (octal 0400)?"


def resources(**amounts: str) -> str:
    lists = ", ".join(f"{name.replace('_', '-')}: {amount}" for name, amount in amounts.items())
    container = f"{{name: c, image: 'b:1', resources: {{limits: {{{lists}}}}}}}"
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: [{container}]\n"


@pytest.mark.parametrize(
    ("amount", "said", "help"),
    [
        ("128m", "memory: 128m means 1 byte (m means milli)", "did you mean 128Mi?"),
        ("2500m", "memory: 2500m means 3 bytes (m means milli)", "did you mean 2500Mi?"),
        ("0.5k", "memory: 0.5k means 500 bytes", "use a unit such as Mi"),
        ("'1e2'", "memory: 1e2 means 100 bytes", "use a unit such as Mi"),
    ],
)
def test_the_meaning_of_few_bytes(amount: str, said: str, help: str) -> None:
    (finding,) = check_text(resources(memory=amount), ["wrong-resource-unit"])
    assert (finding.message, finding.help) == (said, help)


@pytest.mark.parametrize("amount", ["128m", "1", "512", "'1023'", "0.5", "100u", "1e2"])
def test_memory_in_thousandths_or_single_bytes(amount: str) -> None:
    assert reported(resources(memory=amount), "wrong-resource-unit") == [(5, amount)]
    assert reported(resources(ephemeral_storage=amount), "wrong-resource-unit") == [(5, amount)]


@pytest.mark.parametrize("amount", ["0", "'0'", "0m", "1024", "1Ki", "128Mi", "128M", "1e9", "134217728000m", "ten", "-1", "null"])
def test_memory_that_may_be_meant(amount: str) -> None:
    assert reported(resources(memory=amount), "wrong-resource-unit") == []


@pytest.mark.parametrize(("amount", "odd"), [("100Mi", True), ("1000", True), ("1k", True), ("999", False), ("500m", False)])
def test_cpu(amount: str, odd: bool) -> None:
    assert bool(reported(resources(cpu=amount), "wrong-resource-unit")) is odd


def test_other_resources_have_units_of_their_own() -> None:
    assert reported(resources(**{"example.com/gpu": "1", "hugepages-2Mi": "4Mi", "pods": "1"}), "wrong-resource-unit") == []


def test_a_quoted_amount_is_left_for_people_to_mend() -> None:
    plain, quoted = check_text(resources(memory="64m", ephemeral_storage='"64m"'), ["wrong-resource-unit"])
    assert plain.fix is not None
    assert not plain.fix.safe
    assert quoted.fix is None


def test_a_mended_json_file_is_json() -> None:
    container = '{"name": "c", "image": "b:1", "resources": {"limits": {"memory": 512}}}'
    text = f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "a"}}, "spec": {{"containers": [{container}]}}}}'
    (finding,) = check_text(text, ["wrong-resource-unit"], name="pod.json")
    assert finding.fix is not None
    repaired = json.loads(apply_edits(text, finding.fix.edits))
    assert repaired["spec"]["containers"][0]["resources"]["limits"]["memory"] == "512Mi"
