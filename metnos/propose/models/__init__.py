"""Models behind one registry. Knows no plan and no tool: text goes in, text comes out, and what it cost."""
