"""What jobs leave and others read: tables, arrays, provenance, digests of code, what runs."""
