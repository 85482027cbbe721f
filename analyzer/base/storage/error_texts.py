"""Errors of storage clients, in words for a person."""

from __future__ import annotations

import re

from analyzer.base.storage.addresses import Address
from analyzer.base.storage.environment import access_advice, credential_names, server_name, without_secrets

NO_OBJECT = "no such object at {server}; check the name"
NO_BUCKET = "no such bucket at {server}; check the name and the region"
NO_RANGES = "{server} sends whole objects where a range was asked for; reading needs a server that supports ranges"
CUT = "{server} ended its answers before all bytes had come, in {attempts} tries; run again, or copy the object first"
# Pattern in the message of an error -> what a person is told. The first that matches counts.
_REASONS = (
    (r"Failed to get token|OAuth2 access token", "no credentials were found for {server}; access is {wanted}"),
    (r"NO_SUCH_BUCKET|NoSuchBucket|ContainerNotFound", NO_BUCKET),
    (r"Path does not exist|\b404\b|NO_SUCH_KEY|RESOURCE_NOT_FOUND|BlobNotFound", NO_OBJECT),
    (
        r"SIGNATURE_DOES_NOT_MATCH|SignatureDoesNotMatch",
        "{server} does not accept the secret key ({keys}); check that it belongs to the access key",
    ),
    (r"INVALID_ACCESS_KEY_ID|InvalidAccessKeyId", "{server} does not know the access key ({keys}); {wanted}"),
    (r"ExpiredToken|EXPIRED_TOKEN|TokenRefreshRequired", "the session of the credentials ({keys}) has expired; get new ones"),
    (r"status 301|PermanentRedirect|MOVED", "the bucket is in another region; set AWS_REGION to it"),
    (
        r"ACCESS_DENIED|AccessDenied|\b403\b|\b401\b|UNAUTHENTICATED|PERMISSION_DENIED|AuthenticationFailed|AuthorizationFail",
        "{server} denies access (tried {keys}); credentials that may list and read here are needed, {wanted}",
    ),
    (r"status 400|InvalidAuthenticationInfo|credential", "{server} refuses the request (tried {keys}); access is {wanted}"),
    (r"Failed to flush response stream", NO_RANGES),
    (r"curlCode: 18\b", CUT),
    (r"curlCode: 47\b", "{server} sends requests on to others, in a circle; check the address"),
    (r"status 416", "changed while it was read; run again when it is complete"),
    (r"curlCode: 6\b|resolve host", "cannot resolve the name of {server}; check it and the network"),
    (r"curlCode: (35|60)\b|SSL|certificate", "no trusted TLS connection to {server}; is it http, or its certificate untrusted?"),
    (r"NETWORK_CONNECTION|curlCode|UNAVAILABLE|Connection|Timeout", "no answer from {server} after {attempts} tries; is it up?"),
    (r"Empty path component", "a name with an empty part (//) cannot be read; give the object another name"),
)  # fmt: skip
# Errors that mean that no server answered.
_NO_ANSWER = re.compile(r"NETWORK_CONNECTION|curlCode|UNAVAILABLE|Connection refused")
_BEGAN_TO_ANSWER = re.compile(r"curlCode: (18|47)\b")


def reason(at: Address, error: BaseException, attempts: int) -> tuple[str, bool]:
    """What a person reads about an error after so many attempts, and whether it means that no server answered."""
    said = str(error)
    for name in (at.path, at.key, f"{at.key}/"):
        said = said.replace(f"'{name}'", "")  # names may look like errors
    server = server_name(at.scheme, at.root)
    no_answer = _NO_ANSWER.search(said) is not None and not _BEGAN_TO_ANSWER.search(said)
    for pattern, words in _REASONS:
        if re.search(pattern, said):
            keys, wanted = credential_names(at.scheme), access_advice(at.scheme)
            return words.format(server=server, keys=keys, wanted=wanted, attempts=attempts), no_answer
    return f"{server} says: {without_secrets(said)}", no_answer
