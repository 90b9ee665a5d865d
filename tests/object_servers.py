"""Servers of objects on this machine: S3 (moto's), Google Cloud Storage and Azure (emulators)."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.needs import missing, need

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(command: Sequence[object], port: int, account: Mapping[str, str]) -> Iterator[None]:
    """Run a server until the end, with its account in the environment of this process."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    server = subprocess.Popen([str(each) for each in command], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    before = {name: os.environ.get(name) for name in account}
    os.environ.update(account)
    try:
        _wait_for(port, server)
        yield
    finally:
        server.terminate()
        server.wait(20)
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the server did not start")


@contextmanager
def s3_bucket(name: str) -> Iterator[str]:
    """Start moto's S3 server with an empty bucket, and give its address."""
    need("s3fs")
    import s3fs

    program = ROOT / ".clients" / "moto" / "bin" / "moto_server"
    if not program.exists():
        missing("moto's server", "tests/prepare")
    port = free_port()
    account = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    with running([program, "-H", "127.0.0.1", "-p", port], port, account):
        s3fs.S3FileSystem.clear_instance_cache()
        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(name)
        yield f"s3://{name}"


@contextmanager
def gcs_bucket(name: str) -> Iterator[str]:
    """Start an emulator of Google Cloud Storage with an empty bucket, and give its address."""
    need("gcsfs", "gcp_storage_emulator")
    import gcsfs

    port = free_port()
    account = {
        "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}",
        "FSSPEC_GS_TOKEN": "anon",
        "GOOGLE_CLOUD_PROJECT": "test",
    }
    serve = [sys.executable, "-m", "gcp_storage_emulator", "start", "--host=127.0.0.1"]
    with running([*serve, f"--port={port}", "--in-memory"], port, account):
        gcsfs.GCSFileSystem.clear_instance_cache()
        files = gcsfs.GCSFileSystem(token="anon", skip_instance_cache=True)
        files.mkdir(name)
        yield f"gs://{name}"


AZURITE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
"""The published key of the account that Azurite has."""


@contextmanager
def azure_container(name: str) -> Iterator[str]:
    """Start Azurite, Azure's emulator, with an empty container, and give its address."""
    need("adlfs")
    import adlfs

    program = ROOT / "node_modules" / ".bin" / "azurite-blob"
    if not program.exists():
        missing("Azurite", "tests/prepare")
    port = free_port()
    parts = {
        "DefaultEndpointsProtocol": "http", "AccountName": "devstoreaccount1",
        "AccountKey": AZURITE_KEY, "BlobEndpoint": f"http://127.0.0.1:{port}/devstoreaccount1",
    }  # fmt: skip
    text = "".join(f"{key}={value};" for key, value in parts.items())
    options = ["--silent", "--inMemoryPersistence", "--skipApiVersionCheck"]
    serve = [program, *options, "--blobHost", "127.0.0.1", "--blobPort", port]
    with running(serve, port, {"AZURE_STORAGE_CONNECTION_STRING": text}):
        adlfs.AzureBlobFileSystem.clear_instance_cache()
        adlfs.AzureBlobFileSystem(connection_string=text, skip_instance_cache=True).mkdir(name)
        yield f"az://{name}"
