"""VolumeAttachments. Source: ValidateVolumeAttachment (pkg/apis/storage/validation), ValidatePersistentVolumeSpec with an inline volume."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, help_of, names, validator
from kcheck_spec.objects.common_constraints import require
from kcheck_spec.storage.persistent_volumes import access_modes, source_problems
from kcheck_spec.storage.volume_sources import driver_name

volume_attachment = declare("invalid-volume-attachment", "Invalid VolumeAttachment (attacher, nodeName, source)")

# What an inline volume may not say, for the attachment is about one CSI volume on one node.
_NOT_INLINE = ("claimRef", "nodeAffinity", "storageClassName")

tables = [
    fields("storage/v1 VolumeAttachment", spec=()),
    fields("storage/v1 VolumeAttachmentSpec", attacher=(), nodeName=(), source=()),
]


@validator("storage/v1 VolumeAttachment", rule=volume_attachment)
def attachment_is_sound(attachment: Resource) -> Iterator[Problem]:
    """Who attaches what to which node."""
    spec = attachment["spec"]
    source, node = spec["source"], spec["nodeName"]
    yield from driver_name(spec["attacher"])
    if wrong := names.dns_subdomain(node.text):
        yield Problem(node, f"nodeName says where the volume is attached: {wrong}", help=help_of(wrong), reason="Invalid")
    name, inline = source["persistentVolumeName"], source["inlineVolumeSpec"]
    if not name and not inline:
        yield require(source, Complaint("there is nothing to attach", "add persistentVolumeName"))
    elif name and inline:
        yield Problem(
            source, "persistentVolumeName and inlineVolumeSpec are two volumes", help="take one of them away", reason="Forbidden", at="key"
        )
    elif inline:
        yield from _inline(inline)
    if name and (wrong := names.dns_subdomain(name.text)):
        yield Problem(name, wrong, reason="Invalid" if name.text else "Required")


def _inline(spec: Node) -> Iterator[Problem]:
    """A volume without a PersistentVolume of its own: a CSI source and how it is accessed."""
    yield from access_modes(spec)
    yield from source_problems(spec, "", inline=True)
    for field in _NOT_INLINE:
        if spec[field] and spec[field].value != "":
            yield Problem(spec[field], f"an inline volume has no {field}", help="take it away", reason="Forbidden", at="key")
    if len(spec["capacity"]):
        yield Problem(spec["capacity"], "an inline volume has no capacity", help="take it away", reason="Forbidden", at="key")
    if not spec["csi"]:
        yield require(spec["csi"], Complaint("an inline volume is a CSI volume", "add csi"))
    for field, only in (("persistentVolumeReclaimPolicy", "Retain"), ("volumeMode", "Filesystem")):
        value = spec[field]
        # The mode is a pointer, so an empty one is another one.
        if value and value.text != only and (value.text or field == "volumeMode"):
            yield Problem(
                value, f"{value.text or 'nothing'} is not for inline volumes", help=f"write {only}, or take it away", reason="Forbidden"
            )
