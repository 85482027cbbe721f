"""What the environment says of object storage: where servers are, and which credentials are there.

The variables are those of other tools: AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID ..., GOOGLE_APPLICATION_CREDENTIALS,
AZURE_STORAGE_KEY. Values of credentials are never kept here; messages name the variables only.
"""

from __future__ import annotations

import os

# A client is made from these: another environment, another client.
LOCATION_VARIABLES = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "STORAGE_EMULATOR_HOST",
)
CREDENTIAL_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
)

_PREFIXES = {"s3": "AWS", "gs": "GOOGLE", "abfss": "AZURE"}


def s3_endpoint() -> str | None:
    """The S3 server that the environment names; None: Amazon's."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def gs_emulator() -> str:
    """A server in Google's place that wants no credentials, named as Google's own libraries have it; empty: none."""
    return os.environ.get("STORAGE_EMULATOR_HOST", "")


def server_name(scheme: str, root: str) -> str:
    """The server of a bucket, for a person."""
    if scheme == "s3":
        return (s3_endpoint() or "Amazon S3 (AWS_ENDPOINT_URL is not set)").rpartition("@")[2]
    return root.partition("@")[2] if scheme == "abfss" else gs_emulator() or "Google Cloud Storage"


def credential_names(scheme: str) -> str:
    """Where the credentials that are tried come from, and never what they are."""
    names = [name for name in CREDENTIAL_VARIABLES if os.environ.get(name) and name.startswith(_PREFIXES[scheme])]
    return (
        f"{', '.join(names)} of the environment"
        if names
        else "the credentials of this machine; the environment has no keys"
    )


def access_advice(scheme: str) -> str:
    """How credentials of a scheme are given."""
    return {
        "s3": "with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
        "gs": "with GOOGLE_APPLICATION_CREDENTIALS in the environment",
        "abfss": "with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN in the environment",
    }[scheme]


def without_secrets(text: str) -> str:
    """The first line of a message of somebody else, cut to 300 characters, without the value of any credential."""
    line = text.strip().partition("\n")[0][:300]
    for name in CREDENTIAL_VARIABLES:
        secret = os.environ.get(name)
        line = line.replace(secret, "***") if secret else line
    return line
