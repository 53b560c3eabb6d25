"""Kernels of finite networks: path and tangent kernels, each fast form beside its definition."""
