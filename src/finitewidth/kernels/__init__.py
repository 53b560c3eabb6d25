"""Path kernels and tangent kernels of finite and of infinitely wide networks.

Every fast form is tested against a direct implementation of the definition.
"""
