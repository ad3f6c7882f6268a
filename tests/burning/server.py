"""A server whose function burn uses a set share of the server's CPU time: server.py PORT SHARE."""

import selectors
import socket
import sys
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
burned_s, number = 0.0, 1


def burn() -> None:
    global number
    for _ in range(1000 + number % 2000):
        number = (number * 1664525 + 1013904223) & 0xFFFFFFFF
    number >>= 4


def pace(share: float) -> None:
    """Burn until the share is right. The kernel's clock is read outside of burn."""
    global burned_s
    begin_s = time.thread_time()
    while burned_s < share * begin_s:
        burn()
        end_s = time.thread_time()
        burned_s += end_s - begin_s
        begin_s = end_s


def serve(port: int, share: float) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    chosen = selectors.DefaultSelector()
    chosen.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            if key.fileobj is listener:
                client, _ = listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                chosen.register(client, selectors.EVENT_READ, client)
                continue
            try:
                request = key.data.recv(8192)
                for _ in range(request.count(b"\r\n\r\n")):
                    pace(share)
                    key.data.sendall(RESPONSE)
            except OSError:
                request = b""
            if not request:
                chosen.unregister(key.data)
                key.data.close()


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]))
