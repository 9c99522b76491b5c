"""The variables `request` and `namespaceObject`. Source: CreateAdmissionRequest in k8s.io/apiserver, pkg/admission/plugin/cel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Never

from kcheck.cel.values.values import Undecided, Value, View
from kcheck.policy.policy_input import PolicyUser
from kcheck.policy.resource_names import ResourceName
from kcheck.policy.review import Review


class UnknownValue(View):
    """A value that is not known, such as parameters: what depends on it is undecided. `reason`: why, for people."""

    __slots__ = ()

    reason = "the value is not known"

    def _refuse(self) -> Never:
        raise Undecided(self.reason)

    def __contains__(self, key: object) -> bool:
        self._refuse()

    def __getitem__(self, key: Any) -> Value:
        self._refuse()

    def __iter__(self) -> Iterator[str]:
        self._refuse()

    def __len__(self) -> int:
        self._refuse()


class UnknownUser(UnknownValue):
    """An unknown user."""

    __slots__ = ()

    object_type = "kubernetes.UserInfo"
    reason = "the answer depends on the user of the request"


_UNKNOWN = UnknownUser()


class Request(View):
    """The request for an object, whose fields are created when the first of them is read.

    Args:
        review: The object.
        matched: The resource as which the policy judges it.
        user: The user who makes the request, None if unknown.
    """

    # Not the review, which has the request: objects that refer to each other would stay in memory.
    __slots__ = ("_fields", "_matched", "_name", "_namespace", "_object_name", "_operation", "_user")

    def __init__(self, review: Review, matched: ResourceName, user: PolicyUser | None) -> None:
        self._name = review.name
        self._operation = review.operation
        self._object_name = review.object_name
        self._namespace = review.namespace
        self._matched = matched
        self._user = user
        self._fields: dict[str, Value] | None = None

    @property
    def fields(self) -> dict[str, Value]:
        """The fields by name."""
        if self._fields is None:
            self._fields = self._make_fields()
        return self._fields

    def _make_fields(self) -> dict[str, Value]:
        name, matched, operation = self._name, self._matched, self._operation
        fields: dict[str, Value] = {
            "kind": {"group": matched.group, "version": matched.version, "kind": matched.kind},
            "resource": {"group": matched.group, "version": matched.version, "resource": matched.plural},
            "requestKind": {"group": name.group, "version": name.version, "kind": name.kind},
            "requestResource": {"group": name.group, "version": name.version, "resource": name.plural},
            "operation": operation,
            "userInfo": _UNKNOWN if self._user is None else _user_info(self._user),
            "dryRun": False,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions" if operation == "CREATE" else "UpdateOptions"},
        }
        if self._object_name:
            fields["name"] = self._object_name
        if self._namespace:
            fields["namespace"] = self._namespace
        return fields

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def __getitem__(self, key: str) -> Value:
        return self.fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


def _user_info(user: PolicyUser) -> dict[str, Value]:
    return {"username": user.username, "groups": list(user.groups)}
