"""Sessions of openssl's own client, which asks for new keys or another handshake."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest
from tls_tools import Conversation, assert_counted, certificate, key_log, packets, run

V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


@pytest.mark.slow
@pytest.mark.parametrize("version", [V12, V13])
def test_key_update_of_openssl(version: ssl.TLSVersion, tmp_path: Path) -> None:
    """The command-line client asks for new keys twice (TLS 1.3), or for another handshake (TLS 1.2)."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl program")
    if version == V13:
        conversation = openssl_conversation(
            "-tls1_3", (b"hello\n", b"K\n", b"again\n", b"k\n", b"more\n"), tmp_path / "keys"
        )
        content = b"hello\nagain\nmore\n", b"olleh\nniaga\nerom\n"
    else:
        conversation = openssl_conversation("-tls1_2", (b"hello\n", b"R\n", b"again\n"), tmp_path / "keys")
        content = b"hello\nagain\n", b"olleh\nniaga\n"
    one, other, facts = run(packets(conversation, 1_448), key_log(conversation))
    assert (one.content, other.content) == content
    assert facts is not None and facts.decrypted and facts.unread == (0, 0)
    assert_counted(one, other, facts)
    # Without the secrets of the second handshake, what came before it is read.
    if version == V12:
        first = next(line for line in conversation.key_log.splitlines() if line.startswith(b"CLIENT_RANDOM"))
        one, other, facts = run(
            packets(Conversation(conversation.flights, first), 1_448), key_log(Conversation([], first))
        )
        assert (one.content, other.content) == (b"hello\n", b"olleh\n")
        assert facts is not None and facts.decrypted and facts.unread[0] > 0
        assert_counted(one, other, facts)


def openssl_conversation(version: str, commands: tuple[bytes, ...], keys: Path) -> Conversation:
    """What `openssl s_client` and `openssl s_server -rev` say to each other, heard by a relay between them."""
    conversation = Conversation()
    listener = socket.create_server(("127.0.0.1", 0))
    port = socket.create_server(("127.0.0.1", 0))
    server_port = port.getsockname()[1]
    port.close()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(
        ["openssl", "s_server", "-accept", str(server_port), "-cert", str(certificate()), version, "-rev", "-naccept", "1",
         "-legacy_renegotiation", "-client_renegotiation", "-keylogfile", str(keys)], stdin=subprocess.DEVNULL, **quiet,
    )  # fmt: skip
    try:
        client = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{listener.getsockname()[1]}", version],
            stdin=subprocess.PIPE, **quiet,
        )  # fmt: skip
        near, _ = listener.accept()
        far = _connected(server_port)
        threads = [
            threading.Thread(target=_relay, args=(near, far, 0, conversation)),
            threading.Thread(target=_relay, args=(far, near, 1, conversation)),
        ]
        for thread in threads:
            thread.start()
        assert client.stdin is not None
        for command in commands:
            time.sleep(0.5)  # the program takes what comes together for one line of text
            heard = len(conversation.flights)
            client.stdin.write(command)
            client.stdin.flush()
            for _ in range(100 if len(command) > 2 else 0):
                if any(side == 1 for side, _ in conversation.flights[heard:]):
                    break
                time.sleep(0.05)
        client.stdin.close()
        client.wait(10)
    finally:
        server.terminate()
        server.wait(10)
    for thread in threads:
        thread.join(10)
    listener.close()
    conversation.key_log = keys.read_bytes()
    return conversation


def _connected(port: int) -> socket.socket:
    for _ in range(100):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError("the server does not listen")


def _relay(source: socket.socket, target: socket.socket, side: int, conversation: Conversation) -> None:
    try:
        while data := source.recv(65_536):
            conversation.flights.append((side, data))
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other end is gone: that is the end of the conversation
