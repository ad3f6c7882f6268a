"""Send sequential GETs on one connection, with a requests Session."""

import sys

import requests


def fetch(url: str, count: int) -> int:
    """Send the requests and return the total size of all bodies, in bytes."""
    body_bytes = 0
    with requests.Session() as session:
        for _ in range(count):
            response = session.get(url)
            if response.status_code != 200:
                raise requests.HTTPError(f"status {response.status_code}, expected 200")
            body_bytes += len(response.content)
    return body_bytes


def main() -> int:
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        print("usage: client.py URL REQUESTS", file=sys.stderr)
        return 2
    url, count = sys.argv[1], int(sys.argv[2])
    try:
        body_bytes = fetch(url, count)
    except requests.RequestException as error:
        print(f"{url}: {error}", file=sys.stderr)
        return 1
    print(count, body_bytes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
