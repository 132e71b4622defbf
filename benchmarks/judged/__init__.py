"""Requests judged by what came of them: files and answer on a fixture tree, never the wording of a plan."""
