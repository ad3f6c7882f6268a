"""Sentences, made from typed values: the one place where they are written."""
