"""Snakemake's logger plugin ``finitewidth``; see `finitewidth.cli.terminal.handler`."""

from finitewidth.cli.terminal.handler import LogHandler

__all__ = ["LogHandler"]
