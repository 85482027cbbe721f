"""SASL logins step by step, owners of delegation tokens, and requests that a broker forwards for a client (KIP-590).

A token is given to `dissectors.kafka.messages.sasl`, which returns a name and the outcome, and is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.ingest.facts.fact_kinds import FactKind, Row, SeenExchange
from dissectors.kafka.messages import sasl

# The API key that framing gives to a bare SASL token (SaslHandshake v0).
TOKEN = -2
# Connections whose mechanism is remembered; with more, all are forgotten.
_MOST_CONNECTIONS = 100_000


class Logins:
    """Remembers the mechanism that each connection chose."""

    def __init__(self) -> None:
        self._mechanisms: dict[int, str] = {}

    def kinds(self) -> tuple[FactKind, ...]:
        return (
            FactKind(17, "mechanism", "error_code", self.handshake),
            FactKind(36, "auth_bytes", "error_code error_message auth_bytes", self.authenticate),
            # Bare tokens have no fields: the collector gives their bytes the same name.
            FactKind(TOKEN, "", "", self.token),
        )

    def handshake(self, seen: SeenExchange) -> Iterator[Row]:
        mechanism = None if seen.request is None else seen.request.get("mechanism")
        error = None if seen.reply is None else seen.reply.get("error_code")
        if mechanism:
            if len(self._mechanisms) >= _MOST_CONNECTIONS:
                self._mechanisms.clear()
            self._mechanisms[seen.part] = mechanism
        yield (
            "login_steps",
            self._step(seen, "handshake", sasl.Claim(mechanism=mechanism), False if error else None, error),
        )

    def authenticate(self, seen: SeenExchange) -> Iterator[Row]:
        yield self._login(seen, "authenticate")

    def token(self, seen: SeenExchange) -> Iterator[Row]:
        yield self._login(seen, "token")

    def _login(self, seen: SeenExchange, step: str) -> Row:
        mechanism = self._mechanisms.get(seen.part)
        claim = sasl.Claim(mechanism=mechanism)
        if seen.request is not None and seen.request.whole:
            claim = sasl.claim(mechanism, seen.request.get("auth_bytes") or b"")
            mechanism = mechanism or claim.mechanism
        error, outcome, refusal = None, None, None
        if seen.reply is not None:
            error = seen.reply.get("error_code")
            answer = seen.reply.get("auth_bytes")
            if error or answer is not None:
                outcome = sasl.accepted(mechanism, answer or b"", error)
                refusal = sasl.refusal(mechanism, answer or b"", seen.reply.get("error_message") if error else None)
        return "login_steps", self._step(seen, step, claim, outcome, error, refusal)

    def _step(
        self,
        seen: SeenExchange,
        step: str,
        claim: sasl.Claim,
        outcome: bool | None,
        error: int | None,
        refusal: str | None = None,
    ) -> tuple[object, ...]:
        return (
            seen.begin_ns,
            seen.end_ns,
            step,
            claim.mechanism,
            claim.user,
            claim.token_id,
            outcome,
            seen.status,
            error,
            refusal,
            claim.expiry_ns,
        )


def token_owners(seen: SeenExchange) -> Iterator[Row]:
    """CreateDelegationToken and DescribeDelegationToken replies: whose token an id is."""
    if seen.reply is None:
        return
    for each in (seen.reply.fields, *(seen.reply.get("tokens") or ())):
        if each.get("token_id") and each.get("principal_name"):
            yield "token_owners", (each["token_id"], f"{each['principal_type']}:{each['principal_name']}")


def envelope(seen: SeenExchange) -> Iterator[Row]:
    """The header of the request inside: key, version, correlation id, client id (whose length is never compact)."""
    inside = b"" if seen.request is None else seen.request.get("request_data") or b""
    if len(inside) < 10:
        return
    size = int.from_bytes(inside[8:10], "big", signed=True)
    client = inside[10 : 10 + size] if 0 <= size <= len(inside) - 10 else None
    name = None if client is None else client.decode("utf-8", "backslashreplace")
    yield "envelopes", (int.from_bytes(inside[:2], "big", signed=True), name)


_OWNER = "principal_type principal_name"

KINDS = (
    FactKind(38, None, f"{_OWNER} token_id", token_owners),
    FactKind(41, None, f"tokens({_OWNER} token_id)", token_owners),
    FactKind(58, "request_data", None, envelope),
)
