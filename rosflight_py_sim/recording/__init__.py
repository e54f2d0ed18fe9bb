"""Recordings: MCAP files, logs as columns, and summaries."""
