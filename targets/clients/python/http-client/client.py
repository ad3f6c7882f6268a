"""Send sequential GETs on one connection, with http.client."""

import http.client
import sys
from urllib.parse import urlsplit


def fetch(url: str, requests: int) -> int:
    """Send the requests and return the total size of all bodies, in bytes."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = http.client.HTTPConnection(parts.netloc)
    body_bytes = 0
    for _ in range(requests):
        connection.request("GET", target)
        response = connection.getresponse()
        body_bytes += len(response.read())
        if response.status != 200:
            raise http.client.HTTPException(f"status {response.status}, expected 200")
    connection.close()
    return body_bytes


def main() -> int:
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        print("usage: client.py URL REQUESTS", file=sys.stderr)
        return 2
    url, requests = sys.argv[1], int(sys.argv[2])
    try:
        body_bytes = fetch(url, requests)
    except (OSError, http.client.HTTPException) as error:
        print(f"{url}: {error}", file=sys.stderr)
        return 1
    print(requests, body_bytes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
