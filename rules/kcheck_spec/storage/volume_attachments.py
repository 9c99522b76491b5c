"""VolumeAttachments. Source: ValidateVolumeAttachment (pkg/apis/storage/validation), ValidatePersistentVolumeSpec with an inline volume."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, help_of, names, remove, validator
from kcheck_spec.objects.common_constraints import require
from kcheck_spec.storage.persistent_volumes import ACCESS_MODES, access_modes, source_problems
from kcheck_spec.storage.volume_sources import driver_name

volume_attachment = declare("invalid-volume-attachment", "Invalid VolumeAttachment (attacher, nodeName, source)", fixable=True)

# The fields that are not allowed in inlineVolumeSpec.
_NOT_INLINE = ("claimRef", "nodeAffinity", "storageClassName")

tables = [
    fields("storage/v1 VolumeAttachment", spec=()),
    fields("storage/v1 VolumeAttachmentSpec", attacher=(), nodeName=(), source=()),
]


@validator("storage/v1 VolumeAttachment", rule=volume_attachment)
def attachment_is_sound(attachment: Resource) -> Iterator[Problem]:
    """Yield problems of attacher, nodeName and source."""
    spec = attachment["spec"]
    source, node = spec["source"], spec["nodeName"]
    yield from driver_name(spec["attacher"])
    if wrong := names.dns_subdomain(node.text):
        empty = Complaint("spec.nodeName is required", "set it to the name of a node")
        invalid = Complaint(f'nodeName "{node.text}" is not valid: {wrong}', help_of(wrong))
        yield Problem(node, invalid if node.text else empty, reason="Invalid")
    name, inline = source["persistentVolumeName"], source["inlineVolumeSpec"]
    if not name and not inline:
        yield require(source, Complaint("source has neither persistentVolumeName nor inlineVolumeSpec", "add persistentVolumeName"))
    elif name and inline:
        message = "persistentVolumeName and inlineVolumeSpec are mutually exclusive"
        yield Problem(source, message, help="remove one of them", reason="Forbidden", at="key")
    elif inline:
        yield from _inline(inline, attachment)
    if name and (wrong := names.dns_subdomain(name.text)):
        yield Problem(name, wrong, reason="Invalid" if name.text else "Required")


def _inline(spec: Node, attachment: Resource) -> Iterator[Problem]:
    """Yield problems of inlineVolumeSpec, which can only have a CSI source and accessModes."""
    # ReadWriteOncePod has been allowed here since 1.31, where the gate ReadWriteOncePod was removed.
    yield from access_modes(spec, ACCESS_MODES[:3] if attachment.is_before(31) else ACCESS_MODES)
    yield from source_problems(spec, "", inline=True)
    for field in _NOT_INLINE:
        if spec[field] and spec[field].value != "":
            message = f"{field} is not allowed in inlineVolumeSpec"
            yield Problem(spec[field], message, help=remove(), reason="Forbidden", at="key")
    if len(spec["capacity"]):
        message = "capacity is not allowed in inlineVolumeSpec"
        yield Problem(spec["capacity"], message, help=remove(), reason="Forbidden", at="key")
    if not spec["csi"]:
        yield require(spec["csi"], Complaint("csi is required in inlineVolumeSpec", "use csi as the only source"))
    for field, only in (("persistentVolumeReclaimPolicy", "Retain"), ("volumeMode", "Filesystem")):
        value = spec[field]
        # volumeMode is a pointer, so an empty value differs from an absent one.
        if value and value.text != only and (value.text or field == "volumeMode"):
            message = f'{field} "{value.text}" is not allowed in inlineVolumeSpec'
            yield Problem(value, message, help=f"remove it, or set it to {only}", reason="Forbidden")
