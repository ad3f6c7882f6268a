"""A client that requests one URL repeatedly, and satisfies the contract (``honest``) or breaks it in one way."""

import http.client
import os
import signal
import sys
import threading
from urllib.parse import urlsplit


def one(connection: http.client.HTTPConnection, path: str) -> int:
    connection.request("GET", path)
    response = connection.getresponse()
    return len(response.read())


def one_after_the_other(netloc: str, path: str, requests: int) -> int:
    connection = http.client.HTTPConnection(netloc)
    return sum(one(connection, path) for _ in range(requests))


def new_connection_each(netloc: str, path: str, requests: int) -> int:
    total = 0
    for _ in range(requests):
        connection = http.client.HTTPConnection(netloc)
        total += one(connection, path)
        connection.close()
    return total


def ten_at_once(netloc: str, path: str, requests: int) -> int:
    sizes: list[int] = []

    def work(share: int) -> None:
        sizes.append(one_after_the_other(netloc, path, share))

    threads = [threading.Thread(target=work, args=(requests // 10 + (index < requests % 10),)) for index in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(sizes)


def pipelined(netloc: str, path: str, requests: int) -> int:
    import socket

    if not requests:
        return 0
    host, port = netloc.split(":")
    head = f"GET {path} HTTP/1.1\r\nHost: {netloc}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall((head + "\r\n").encode() * (requests - 1) + (head + "Connection: close\r\n\r\n").encode())
        stream = connection.makefile("rb")
        total = 0
        for _ in range(requests):
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            total += len(stream.read(length))
    return total


def main() -> None:
    mode, url, requests = sys.argv[1], sys.argv[2], int(sys.argv[3])
    parts = urlsplit(url)
    where = (parts.netloc, parts.path)
    if mode == "crashes" and requests:
        print("out of luck", file=sys.stderr)
        sys.exit(1)
    if mode == "is-killed" and requests:
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "sends-one-less":
        total = one_after_the_other(*where, max(requests - 1, 0)) // max(requests - 1, 1) * requests
    elif mode == "sends-ten-at-once":
        total = ten_at_once(*where, requests)
    elif mode == "connects-each-time":
        total = new_connection_each(*where, requests)
    elif mode == "pipelines":
        total = pipelined(*where, requests)
    else:
        total = one_after_the_other(*where, requests)
    print(requests, total)


main()
