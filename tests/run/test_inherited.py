"""What goes to a process that has the files already."""

from __future__ import annotations

from kcheck.check.file import Task
from kcheck.check.input_kinds import InputKind
from kcheck.text.source import Source
from kcheck.workers.transport import Inherited

TEXT = "kind: CustomResourceDefinition\n" * 1000
HERE = Source("crd.yaml", TEXT)
LATER = Source("later.yaml", TEXT)


def test_files_go_as_numbers() -> None:
    inherited = Inherited({7: HERE})
    data = inherited.pack([Task(7, HERE, True)])
    assert inherited.unpack(data)[0].source is HERE
    # Neither the name nor the text of a file is part of it.
    empty = Source("", "")
    assert len(data) == len(Inherited({7: empty}).pack([Task(7, empty, True)]))


def test_what_came_later_goes_as_it_is() -> None:
    inherited = Inherited({7: HERE})
    data = inherited.pack([Task(7, LATER, True)])
    back = inherited.unpack(data)[0]
    assert (back.source.path, back.source.text) == ("later.yaml", TEXT)
    assert len(data) > len(TEXT)


def test_texts_of_kinds_are_read_where_they_stand() -> None:
    inherited = Inherited({7: HERE})
    kinds = [InputKind("example.com/v1", name, TEXT[31:93], "", 7, 31) for name in ("One", "Two")]
    packed = InputKind("example.com/v1", "Packed", b"\0\1", "", 7, 31)
    elsewhere = InputKind("example.com/v1", "Elsewhere", TEXT[31:93], "", 8, 31)
    back = inherited.unpack(inherited.pack([*kinds, packed, elsewhere]))
    assert back == [*kinds, packed, elsewhere]
    assert back[0].text is back[1].text
