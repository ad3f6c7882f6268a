from __future__ import annotations

import pytest

from httpbench.text import listed


@pytest.mark.parametrize(("names", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_several_names_form_a_list(names: list[str], text: str) -> None:
    assert listed(iter(names)) == text
