"""Why a user-defined policy denies an object."""

from __future__ import annotations

from kcheck.text.record import NamedTuple


class PolicyEvidence(NamedTuple):
    """What decided the verdict of a policy. Secret values are masked.

    Attributes:
        engine: The language of the policy: "vap" for ValidatingAdmissionPolicy.
        policy: The name of the policy.
        binding: The name of the binding that applies it to the object, "" if the language has none.
        param: The parameter of the binding, as namespace/name or name; "" if there is none.
        expression: The expression that decided, "" if none did.
        variables: The variables that the expression uses, with their values in JSON, shortened.
    """

    engine: str
    policy: str
    binding: str = ""
    param: str = ""
    expression: str = ""
    variables: tuple[tuple[str, str], ...] = ()
