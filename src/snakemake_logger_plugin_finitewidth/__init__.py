"""Snakemake's logger plugin ``finitewidth``; see `finitewidth.cli.terminal`."""

from finitewidth.cli.terminal import LogHandler

__all__ = ["LogHandler"]
