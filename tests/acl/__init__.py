"""Tests of block ``acl``."""
