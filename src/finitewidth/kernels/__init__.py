"""Kernels of finite networks: path kernels and tangent kernels, each fast form beside its definition."""
