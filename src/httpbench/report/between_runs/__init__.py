"""One run compared with another, as ``httpbench compare`` does: their rounds are not pairs."""
