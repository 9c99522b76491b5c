"""Facts about Go types, and the tool that reads them."""

import json
from pathlib import Path

import pytest

from kcheck.defaulting.go_types import go_type
from kcheck.schema.builtin import definitions
from tools import refresh_go_types

# Structs without fields, and types of the group of kube-apiserver itself.
WITHOUT_FACTS = {
    "apiextensions/v1 CustomResourceSubresourceStatus",
    "apiserverinternal/v1alpha1 StorageVersionSpec",
    "admissionregistration/v1alpha1 MatchCondition",
}

GO = """\
package v1

import (
	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const DefaultMode = "Fast"

// Pod is an example.
type Pod struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	// +default=3
	Count *int32 `json:"count,omitempty" protobuf:"varint,1,opt,name=count"`
	// +default=ref(DefaultMode)
	Mode string `json:"mode,omitempty"`
	Names []string `json:"names"`
	Inner Inner `json:"inner,omitzero"`
	Common `json:",inline"`
	Hidden string `json:"-"`
}

type Inner struct{}

type Common struct {
	Shared *v1.Thing `json:"shared"`
}
"""


def test_versions() -> None:
    assert go_type("core/v1 Container", 36).kept == {"name"}
    assert "apiGroup" in go_type("core/v1 TypedLocalObjectReference", 25).pointers
    assert [go_type("meta/v1 ObjectMeta", minor).omitzero for minor in (33, 34)] == [set(), {"creationTimestamp"}]
    assert go_type("core/v1 RBDVolumeSource", 37).defaults["pool"] == "rbd"
    assert not go_type("unknown", 36).kept


def test_every_type_has_facts() -> None:
    for version in definitions.available():
        known = json.loads((definitions.folder() / "go-types.json").read_text())
        served = {name for each in definitions.available()[: definitions.available().index(version) + 1] for name in known[each]}
        assert set(definitions.load(version).types()) - served <= WITHOUT_FACTS


@pytest.mark.parametrize("name", ["Pod", "Alias"])
def test_reading_a_package(tmp_path: Path, name: str) -> None:
    (tmp_path / "types.go").write_text(GO + "\ntype Alias = v1.Pod\n")
    structs = refresh_go_types.read_package(tmp_path)
    entry = refresh_go_types.type_entry(name, structs, {"core/v1": structs})
    assert entry == {
        "pointers": ["count", "shared"],
        "kept": ["names", "shared"],
        "omitzero": ["inner"],
        "defaults": {"count": 3, "mode": "Fast"},
    }
