"""Experiments: functions of settings, data and seeds that return tables; one folder per paper."""
