"""The requests and messages of a page."""

from __future__ import annotations

from playwright.sync_api import Page


class Traffic:
    """Record the addresses that a page requests, and its messages and errors, from now on."""

    def __init__(self, page: Page):
        self.requests: list[str] = []
        self.messages: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
