"""Tests that the dashboard checks the method, Host header and token of each request, and that every response has security headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.web.guard import COOKIE, host_name
from tests.dashboards import HOST, make_client, make_small_store

TOKEN = "s3cret-token"
OWN_COOKIE = COOKIE.format(port=HOST.rpartition(":")[2])


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_small_store(tmp_path_factory.mktemp("store") / "results.db")


@pytest.mark.parametrize("path", ["/", "/runs/r1.html", "/live.js", "/none", "/runs/r1/table-1.svg"])
def test_every_response_has_security_headers(db: Path, path: str) -> None:
    headers = make_client(db).get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"].replace("style-src 'unsafe-inline'", "")
    assert "server" not in headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_the_dashboard_is_read_only(db: Path, method: str) -> None:
    response = make_client(db).request(method, "/")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")


def test_head_responses_have_no_body(db: Path) -> None:
    assert make_client(db).head("/").status_code == 200


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8420", "127.0.0.1:1", "[::1]:8420", "192.0.2.7", "bench.example", "bench.example.:80"]
)
def test_requests_for_own_names_and_ip_addresses_are_served(db: Path, host: str) -> None:
    assert make_client(db).get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8420",
        "",
        "0x7f000001",
        "a@127.0.0.1",
        "[::1]evil.test",
        "[::1",
    ],
)
def test_requests_for_other_names_are_rejected(db: Path, host: str) -> None:
    """An attacker's host name may resolve to this machine (DNS rebinding)."""
    response = make_client(db).get("/", headers={"host": host})
    assert response.status_code == 421
    assert "c/a" not in response.text


@pytest.mark.parametrize(("header", "name"), [("[::1]:80", "::1"), ("A.b:80", "a.b"), ("a.b.", "a.b"), ("", "")])
def test_host_name_is_parsed_from_the_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/?token=s3cret-toke%C3%A9", "/runs/r1.html", "/live.js", "/runs/r3/events", "/none"]
)
def test_without_the_token_nothing_is_shown(db: Path, path: str) -> None:
    response = make_client(db, token=TOKEN).get(path)
    assert response.status_code == 401
    assert "set-cookie" not in response.headers
    assert "c/a" not in response.text


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "no-cors", 403),
        ("cross-site", "cors", 403),
        ("same-site", "no-cors", 403),
        ("cross-site", "navigate", 200),
        ("same-origin", "no-cors", 200),
        ("none", "navigate", 200),
    ],
)
def test_other_sites_can_link_to_a_page_but_not_embed_it(db: Path, site: str, mode: str, status: int) -> None:
    response = make_client(db).get("/", headers={"sec-fetch-site": site, "sec-fetch-mode": mode})
    assert response.status_code == status


@pytest.mark.parametrize("cookie", ["", "wrong", TOKEN[:-1], f"{TOKEN}x", "é"])
def test_a_wrong_cookie_is_rejected(db: Path, cookie: str) -> None:
    response = make_client(db, token=TOKEN).get(
        "/", headers={b"cookie": f"{COOKIE.format(port=HOST.rpartition(':')[2])}={cookie}".encode()}
    )
    assert response.status_code == 401


def test_the_token_moves_from_the_address_to_a_cookie(db: Path) -> None:
    client = make_client(db, token=TOKEN)
    response = client.get("/runs/r1.html", params={"token": TOKEN, "a": "b c"})
    assert (response.status_code, response.headers["location"]) == (303, "/runs/r1.html?a=b+c")
    cookie = response.headers["set-cookie"]
    assert all(
        part in cookie for part in (f"{COOKIE.format(port=HOST.rpartition(':')[2])}={TOKEN}", "HttpOnly", "SameSite=strict", "Path=/")
    )
    shown = client.get("/runs/r1.html")
    assert shown.status_code == 200
    assert TOKEN not in shown.text


def test_a_redirect_never_leads_to_another_host(db: Path) -> None:
    response = make_client(db, token=TOKEN).get(f"http://127.0.0.1:8420//evil.example/?token={TOKEN}")
    assert response.headers["location"] == "/evil.example/"
