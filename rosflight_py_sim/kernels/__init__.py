"""Compiled numeric functions: their decorator, their library of machine code, and its preparation."""
