"""Fakes as products: what tests of Metnos, and of anything built on it, need in place of the world."""
