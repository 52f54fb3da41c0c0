"""Golden models, written from the standards: bytes and dataclasses in, bytes and dataclasses out."""
